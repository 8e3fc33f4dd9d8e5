//! A PostgreSQL server. It refuses to be run by root, who runs it as somebody else, therefore.

use super::USER;
use crate::{Folder, Kind, Part, Purpose, Stack, folder, launch::Launch, process};
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// An empty folder for its files: in ours, unless the one who runs it cannot get there.
pub(crate) fn home(folder: &Folder) -> Result<PathBuf, String> {
    let inside = folder.data(Part { kind: Kind::Postgres, number: 1 });
    let user = unprivileged();
    let home = match user {
        Some(_) if !is_open(&inside) => {
            let name: [u8; 8] = rand::random();
            std::env::temp_dir().join(format!("signalbox-local-postgres-{:016x}", u64::from_be_bytes(name)))
        }
        _ => inside,
    };
    fs::create_dir(&home).map_err(folder::told(&home))?;
    let (uid, gid) = user.unzip();
    chown(&home, uid, gid).map_err(folder::told(&home))?;
    Ok(home)
}

/// Whether everybody can go through all folders on the way.
fn is_open(path: &Path) -> bool {
    path.ancestors().skip(1).all(|folder| fs::metadata(folder).is_ok_and(|folder| folder.mode() & 1 == 1))
}

/// Where its tables are, and where all its processes work.
pub(crate) fn data(stack: &Stack) -> PathBuf {
    stack.postgres().join("data")
}

pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    let (programs, home, data) = (programs()?, stack.postgres(), data(stack));
    if !data.join("PG_VERSION").is_file() {
        init(&programs, home, &stack.secrets().engines)?;
    }
    forget(&data)?;
    let port = stack.ports().of(part, Purpose::Clients);
    let mut launch = Launch::of(programs.join("postgres"));
    launch.user = unprivileged();
    Ok(launch
        .args(["-D".to_owned(), data.display().to_string(), "-p".to_owned(), port.to_string()])
        // A socket would have a lock of its own, which outlives a server that is killed.
        .args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="])
        .args(["-c", "shared_buffers=32MB"]))
}

/// Whether it takes connections: it writes so into its folder.
pub(crate) fn is_ready(stack: &Stack, pid: u32) -> bool {
    let state = fs::read_to_string(data(stack).join("postmaster.pid")).unwrap_or_default();
    let lines: Vec<&str> = state.lines().map(str::trim).collect();
    lines.first() == Some(&pid.to_string().as_str()) && lines.get(7) == Some(&"ready")
}

/// Forgets the server that was killed here. It would not let another one start while somebody has its number, whoever
/// that is; but as long as a process of its own works here, that must not be.
fn forget(data: &Path) -> Result<(), String> {
    let remains = data.join("postmaster.pid");
    if !process::working_in(data).is_empty() || !remains.is_file() {
        return Ok(());
    }
    fs::remove_file(&remains).map_err(folder::told(&remains))
}

/// Makes an empty database.
fn init(programs: &Path, home: &Path, password: &str) -> Result<(), String> {
    let secret = home.join("password");
    fs::write(&secret, password).map_err(folder::told(&secret))?;
    let user = unprivileged();
    let (uid, gid) = user.unzip();
    chown(&secret, uid, gid).map_err(folder::told(&secret))?;
    let mut command = Command::new(programs.join("initdb"));
    command.args(["--no-sync", "-E", "UTF8", "--locale=C.UTF-8", "--wal-segsize=4"]);
    command
        .args(["-A", "scram-sha-256", "-U", USER, "--pwfile"])
        .arg(&secret)
        .arg("-D")
        .arg(home.join("data"));
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    let output = command.output().map_err(|error| format!("cannot start initdb: {error}"))?;
    fs::remove_file(&secret).map_err(folder::told(&secret))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("initdb: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Where its programs are: in `PATH`, or where Debian keeps them, the newest version.
fn programs() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let packaged = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut packaged: Vec<PathBuf> = packaged.map(|version| version.path().join("bin")).collect();
    packaged.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
    let has_all =
        |folder: &PathBuf| ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file());
    std::env::split_paths(&path).chain(packaged).find(has_all).ok_or_else(|| {
        "PostgreSQL is missing: tools/install.sh postgres brings it (`make up` does)".to_owned()
    })
}

fn version(folder: &Path) -> u32 {
    let name = folder.parent().and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().parse().unwrap_or(0)
}

/// User and group of somebody who is not root; nobody where we are not root either.
fn unprivileged() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(of("postgres").or_else(|| of("nobody")).unwrap_or((65_534, 65_534)))
}
