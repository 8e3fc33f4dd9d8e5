//! A real PostgreSQL server.

use crate::eventually_some;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::{
    fs,
    net::TcpListener,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Stdio,
};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// A server of its own: in a temporary folder, on a port of 127.0.0.1, with nothing in it but an empty database. Ended
/// when dropped. The machine's own PostgreSQL is left alone, though its programs are used.
#[derive(Debug)]
pub struct PostgresServer {
    programs: Programs,
    folder: TempDir,
    settings: Vec<String>,
    port: u16,
    child: Child,
}

impl PostgresServer {
    /// The only user.
    pub const USER: &str = "signalbox";
    /// Its password.
    pub const PASSWORD: &str = "postgres-password";

    /// Starts one and waits until it is ready.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts one with settings, as in `fsync=on`: it need not outlive a loss of power unless that is said.
    pub async fn with(settings: &[&str]) -> Self {
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let programs = Programs::find();
        let folder = programs.folder();
        let template = programs.template().await;
        programs.run("cp", |command| command.arg("-a").arg(&template).arg(folder.path().join("data"))).await;
        let mut why = String::new();
        // PostgreSQL cannot choose a port itself, and another program may be quicker to take the one chosen here.
        for _ in 0..3 {
            let port = free_port();
            match programs.serve(folder.path(), &settings, port).await {
                Ok(child) => return Self { programs, folder, settings, port, child },
                Err(ended) => why = ended,
            }
        }
        panic!("{why}");
    }

    /// Where clients find the empty database.
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// Makes another empty database. Where clients find it.
    pub async fn database(&self, name: &str) -> String {
        let port = self.port.to_string();
        let make = self.programs.run("createdb", |command| {
            command.args(["-h", "127.0.0.1", "-p", &port, "-U", Self::USER, name]);
            command.env("PGPASSWORD", Self::PASSWORD)
        });
        make.await;
        self.url_of(name)
    }

    /// Writes down all that is in the database, as it is at one moment, whoever uses it meanwhile.
    pub async fn dump(&self) -> PathBuf {
        let file = self.folder.path().join("dump");
        self.client("pg_dump", &["--format=custom", "--dbname=postgres"], "--file", &file).await;
        file
    }

    /// Fills an empty database with what another one had.
    pub async fn restore(&self, dump: &Path) {
        // Whoever runs the programs may not read what is in another's folder.
        let file = self.folder.path().join("restored");
        fs::copy(dump, &file).unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
        let arguments = ["--exit-on-error", "--single-transaction", "--dbname=postgres"];
        self.client("pg_restore", &arguments, "--", &file).await;
    }

    async fn client(&self, name: &str, arguments: &[&str], flag: &str, file: &Path) {
        let port = self.port.to_string();
        let run = self.programs.run(name, |command| {
            command
                .args(["-h", "127.0.0.1", "-p", &port, "-U", Self::USER])
                .args(arguments)
                .arg(flag)
                .arg(file);
            command.env("PGPASSWORD", Self::PASSWORD)
        });
        run.await;
    }

    fn url_of(&self, database: &str) -> String {
        format!("postgres://{}:{}@127.0.0.1:{}/{database}", Self::USER, Self::PASSWORD, self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends it at once (SIGKILL). What it has stored stays.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap_or_else(|error| panic!("cannot kill postgres: {error}"));
    }

    /// Starts it anew, so that it can be read and not written, or both again.
    pub async fn set_read_only(&mut self, read_only: bool) {
        const SETTING: &str = "default_transaction_read_only=on";
        self.kill().await;
        self.settings.retain(|setting| setting != SETTING);
        self.settings.extend(read_only.then(|| SETTING.to_owned()));
        self.restart().await;
    }

    /// Starts it again, on the same port and with what it had stored.
    pub async fn restart(&mut self) {
        // The processes it had made may still be ending.
        let (programs, folder, settings, port) =
            (&self.programs, self.folder.path(), &self.settings, self.port);
        let started = eventually_some("postgres starts again", || async move {
            programs.serve(folder, settings, port).await.ok()
        });
        self.child = started.await;
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Not by SIGKILL: it has shared memory to give back, of which the system has few pieces.
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            let _ended = kill_process(pid, Signal::QUIT);
            let _reaped = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}

/// PostgreSQL's programs, and who runs them: it refuses to be run by root.
#[derive(Debug)]
struct Programs {
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl Programs {
    fn find() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).find(|folder| has_programs(folder));
        let Some(folder) = on_path.or_else(packaged) else {
            panic!("PostgreSQL is missing: run `tools/install.sh postgres` (`make test` does)");
        };
        let user = rustix::process::geteuid().is_root().then(unprivileged);
        Self { folder, user }
    }

    /// An empty folder that they may use.
    fn folder(&self) -> TempDir {
        let folder = tempfile::Builder::new().prefix("signalbox-postgres-").tempdir();
        let folder = folder.unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        if let Some((user, group)) = self.user {
            chown(folder.path(), Some(user), Some(group))
                .unwrap_or_else(|error| panic!("{}: {error}", folder.path().display()));
        }
        folder
    }

    fn command(&self, name: &str) -> Command {
        let program = self.folder.join(name);
        let mut command = Command::new(if program.is_file() { program } else { PathBuf::from(name) });
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs a program to its end.
    async fn run(&self, name: &str, arguments: impl FnOnce(&mut Command) -> &mut Command) {
        let mut command = self.command(name);
        let output = arguments(&mut command).output().await;
        let output = output.unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A server's files as they are at first. They take seconds to make, so they are made once and copied.
    async fn template(&self) -> PathBuf {
        let user = self.user.map_or_else(|| rustix::process::geteuid().as_raw(), |(user, _)| user);
        let version = fs::metadata(self.folder.join("postgres")).and_then(|program| program.modified());
        let version = version.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let version = version.unwrap_or_default().as_secs();
        let template = std::env::temp_dir().join(format!("signalbox-postgres-template-{version}-{user}"));
        if !template.is_dir() {
            let folder = self.folder();
            self.init(folder.path()).await;
            // Somebody else may have been quicker; theirs is as good.
            let _moved = fs::rename(folder.path().join("data"), &template);
        }
        template
    }

    async fn init(&self, folder: &Path) {
        let password = folder.join("password");
        fs::write(&password, PostgresServer::PASSWORD).unwrap_or_else(|error| panic!("{error}"));
        self.run("initdb", |command| {
            command.args(["--no-sync", "-E", "UTF8", "--locale=C.UTF-8", "--wal-segsize=4"]);
            command.args(["-A", "scram-sha-256", "-U", PostgresServer::USER, "--pwfile"]).arg(&password);
            command.arg("-D").arg(folder.join("data"))
        })
        .await;
    }

    /// The server, ready, or why it ended.
    async fn serve(&self, folder: &Path, settings: &[String], port: u16) -> Result<Child, String> {
        let (data, log) = (folder.join("data"), folder.join("log"));
        let errors = fs::File::create(&log).map_err(|error| error.to_string())?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        command.arg("-c").arg(format!("unix_socket_directories={}", folder.display()));
        // What a process wrote outlives the process all the same.
        command.args(["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB"]);
        settings.iter().for_each(|setting| _ = command.arg("-c").arg(setting));
        let mut child = command.stderr(errors).spawn().map_err(|error| error.to_string())?;
        let pid = child.id().unwrap_or_default();
        let ended = eventually_some("postgres is ready", || {
            let ended = child.try_wait().ok().flatten();
            let state = ended.map(Err).or_else(|| is_ready(&data, pid).then_some(Ok(())));
            async move { state }
        })
        .await;
        match ended {
            Ok(()) => Ok(child),
            Err(status) => {
                Err(format!("postgres ended: {status}\n{}", fs::read_to_string(log).unwrap_or_default()))
            }
        }
    }
}

/// What the server writes into its folder when it takes connections.
fn is_ready(data: &Path, pid: u32) -> bool {
    let state = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let lines: Vec<&str> = state.lines().map(str::trim).collect();
    lines.first() == Some(&pid.to_string().as_str()) && lines.get(7) == Some(&"ready")
}

fn has_programs(folder: &Path) -> bool {
    ["initdb", "postgres", "createdb"].iter().all(|program| folder.join(program).is_file())
}

/// Where Debian keeps them, the newest version.
fn packaged() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let folders = versions.map(|version| version.path().join("bin")).filter(|folder| has_programs(folder));
    folders.max_by_key(|folder| version(folder))
}

fn version(folder: &Path) -> u32 {
    let name = folder.parent().and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().parse().unwrap_or(0)
}

/// User and group of somebody who is not root.
fn unprivileged() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    of("postgres").or_else(|| of("nobody")).unwrap_or((65_534, 65_534))
}

/// A port that nobody has now.
fn free_port() -> u16 {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address.unwrap_or_else(|error| panic!("no free port: {error}")).port()
}
