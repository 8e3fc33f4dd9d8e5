//! A PostgreSQL server. It refuses to be run by root, who runs it as somebody else, therefore.

use super::USER;
use crate::{Folder, Kind, Part, Purpose, Stack, folder, launch::Launch, process};
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, lchown, symlink},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// How folders for its files are called that are not in ours.
const OUTSIDE: &str = "signalbox-local-postgres-";

/// Where its files are to be: in our folder, unless the one who runs it cannot get there.
pub(crate) fn home(folder: &Folder) -> PathBuf {
    match unprivileged() {
        Some(_) if !is_open(folder.path()) => {
            let name: [u8; 8] = rand::random();
            std::env::temp_dir().join(format!("{OUTSIDE}{:016x}", u64::from_be_bytes(name)))
        }
        _ => inside(folder),
    }
}

/// Makes a folder for its files, unless there is one.
pub(crate) fn make_home(stack: &Stack) -> Result<(), String> {
    let (home, inside) = (stack.postgres(), inside(stack.folder()));
    if data(stack).is_dir() {
        return Ok(());
    }
    if home != inside && fs::symlink_metadata(&inside).is_err() {
        symlink(home, &inside).map_err(folder::told(&inside))?;
    }
    match fs::create_dir(home) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(folder::told(home)(error)),
        _ => own(home),
    }
}

/// Where its files are, by what is in our folder alone.
pub(crate) fn found(folder: &Folder) -> Option<PathBuf> {
    let inside = inside(folder);
    let outside = fs::read_link(&inside).ok()?;
    let name = outside.file_name()?.to_str()?.to_owned();
    name.starts_with(OUTSIDE).then_some(outside)
}

fn inside(folder: &Folder) -> PathBuf {
    folder.data(Part { kind: Kind::Postgres, number: 1 })
}

/// Gives something to the user who runs it.
fn own(path: &Path) -> Result<(), String> {
    let (uid, gid) = unprivileged().unzip();
    lchown(path, uid, gid).map_err(folder::told(path))
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

/// Whether it has begun to take connections: it writes so into its folder.
pub(crate) fn has_begun(stack: &Stack, pid: u32) -> bool {
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

/// Makes an empty database, in one step: what was interrupted is made anew.
fn init(programs: &Path, home: &Path, password: &str) -> Result<(), String> {
    let (secret, new) = (home.join("password"), home.join("new"));
    if new.exists() {
        fs::remove_dir_all(&new).map_err(folder::told(&new))?;
    }
    folder::write(&secret, password)?;
    own(&secret)?;
    let mut command = Command::new(programs.join("initdb"));
    command.args(["--no-sync", "-E", "UTF8", "--locale=C.UTF-8", "--wal-segsize=4"]);
    command.args(["-A", "scram-sha-256", "-U", USER, "--pwfile"]).arg(&secret).arg("-D").arg(&new);
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some((uid, gid)) = unprivileged() {
        command.uid(uid).gid(gid);
    }
    let output = command.output().map_err(|error| format!("cannot start initdb: {error}"))?;
    fs::remove_file(&secret).map_err(folder::told(&secret))?;
    if !output.status.success() {
        return Err(format!("initdb: {}", String::from_utf8_lossy(&output.stderr)));
    }
    fs::rename(&new, home.join("data")).map_err(folder::told(&new))
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
