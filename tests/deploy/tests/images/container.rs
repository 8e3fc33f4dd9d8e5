//! A container of the image, without an engine: its user, a root that cannot be written to, with the program, the
//! libraries of this machine and the mounts in it, and nothing else. No shell, for one.

use super::dockerfile;
use serde_json::Value;
use signalbox_testkit::built;
use std::{
    fmt::Write as _,
    fs, io,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{ExitStatus, Output, Stdio},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// What the base brings, as this machine has it.
const OF_THE_BASE: [&str; 6] =
    ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ssl/certs", "/usr/share/ca-certificates"];
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/// Makes the root, and becomes the program.
const SCRIPT: &str = include_str!("container.sh");
const PATIENCE: Duration = Duration::from_secs(60);

/// One that was not started yet.
#[derive(Debug)]
pub(super) struct Container {
    folder: TempDir,
    mounts: String,
    user: String,
    entrypoint: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Container {
    /// As the image says, with an empty volume.
    pub(super) fn of_the_image() -> Self {
        let last = dockerfile::last();
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        let mut environment = last.environment();
        environment.push((
            "PATH".to_owned(),
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
        ));
        let mut container = Self {
            folder,
            mounts: String::new(),
            user: last.one("USER").rest.clone(),
            entrypoint: last.one("ENTRYPOINT").list(),
            environment,
        };
        for path in OF_THE_BASE.into_iter().chain(DEVICES).filter(|path| Path::new(path).exists()) {
            let mode = match path {
                path if Path::new(path).is_symlink() => "link",
                path if path.starts_with("/dev/") => "rw",
                _ => "ro",
            };
            container.mount(mode, Path::new(path), path);
        }
        let copies = last.all("COPY");
        container.mount("ro", &built("signalbox"), copies[0].words()[1]);
        for copy in copies.iter().filter(|copy| copy.flag("from").is_none()) {
            let [source, target] = copy.words()[..] else { panic!("{copy:?}") };
            container.mount("ro", &signalbox_testkit::workspace().join(source), target);
        }
        container.add_volume(&last.one("VOLUME").list()[0]);
        container
    }

    /// A folder that its user may write to.
    fn add_volume(&mut self, target: &str) {
        let volume = self.folder.path().join("volume");
        fs::create_dir(&volume).unwrap();
        let (user, group) = self.user.split_once(':').unwrap();
        chown(&volume, user.parse().ok(), group.parse().ok()).unwrap();
        self.mount("rw", &volume, target);
    }

    /// What is mounted later covers what was mounted before.
    pub(super) fn mount(&mut self, mode: &str, source: &Path, target: &str) {
        writeln!(self.mounts, "{mode}\t{}\t{target}", source.display()).unwrap();
    }

    /// A file of its own, with a text.
    pub(super) fn file(&mut self, target: &str, text: &str) {
        let file = self.folder.path().join(target.replace('/', "-"));
        fs::write(&file, text).unwrap();
        self.mount("ro", &file, target);
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    fn command(&self, arguments: &[String]) -> Command {
        let (root, mounts) = (self.folder.path().join("root"), self.folder.path().join("mounts"));
        fs::write(&mounts, &self.mounts).unwrap();
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--uts", "sh", "-c", SCRIPT, "container"])
            .arg(root)
            .arg(&self.user)
            .arg(mounts);
        command.args(&self.entrypoint).args(arguments);
        command.env_clear().envs(self.environment.iter().cloned()).current_dir("/").stdin(Stdio::null());
        command.kill_on_drop(true);
        command
    }

    /// Runs a command of the program to its end.
    pub(super) async fn run(&self, arguments: &[String]) -> Output {
        timeout(PATIENCE, self.command(arguments).output()).await.unwrap().unwrap()
    }

    /// Starts it and waits until it listens.
    pub(super) async fn serve(self, arguments: &[String]) -> Running {
        let log = self.folder.path().join("log");
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
        let said = || fs::read_to_string(&log).unwrap_or_default();
        let line = line.unwrap_or_else(|| panic!("it ended: {}", said()));
        let banner = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        Running { container: self, child, log, banner }
    }
}

/// One that serves. Killed when dropped.
#[derive(Debug)]
pub(super) struct Running {
    container: Container,
    child: Child,
    log: PathBuf,
    pub(super) banner: Value,
}

impl Running {
    /// Runs a program of the image in it, as `docker exec` and health checks do.
    pub(super) async fn exec(&self, command: &[String]) -> Output {
        let pid = self.child.id().unwrap().to_string();
        let mut enter = Command::new("nsenter");
        enter.args(["--target", &pid, "--mount", "--net", "--root", "--wd=/"]).args(command);
        enter.env_clear().envs(self.container.environment.iter().cloned()).kill_on_drop(true);
        timeout(PATIENCE, enter.output()).await.unwrap().unwrap()
    }

    /// Tells it to stop, and waits until it has.
    pub(super) async fn stop(&mut self) -> io::Result<ExitStatus> {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status().await?;
        assert!(told.success());
        timeout(PATIENCE, self.child.wait()).await.unwrap()
    }

    /// What it has in its volume.
    pub(super) fn volume(&self) -> Vec<String> {
        let entries = fs::read_dir(self.container.folder.path().join("volume")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Running {
    #[expect(clippy::print_stderr, reason = "the log of a failed test is shown beside its panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("== log of {}\n{}", self.banner, self.log());
        }
    }
}
