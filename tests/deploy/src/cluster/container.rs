//! The process of a container: the rendered command, as the rendered user, seeing the image and the rendered mounts
//! and nothing else.

use super::{env::Environment, image::Image, spec::PodSpec, volumes::Mount};
use std::{
    fmt::Write as _,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::{Child, Command};

const SCRIPT: &str = include_str!("container.sh");

/// Of this machine, what an image with nothing but libraries and certificates has too.
const FROM_THE_MACHINE: [&str; 7] = [
    "/usr/lib",
    "/usr/lib64",
    "/lib",
    "/lib64",
    "/etc/ssl/certs",
    "/usr/share/ca-certificates",
    "/usr/share/zoneinfo",
];
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// All that is needed to start a container, as often as it must.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) pod: String,
    pub(super) image: Image,
    pub(super) command: Vec<String>,
    pub(super) environment: Environment,
    pub(super) mounts: Vec<Mount>,
    pub(super) spec: PodSpec,
    /// Where this machine keeps what it knows of the pod.
    pub(super) folder: PathBuf,
}

impl Container {
    /// What it has written.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Starts it in the network that a process holds.
    pub(super) fn start(&self, network: &str) -> io::Result<Child> {
        let log = File::options().create(true).append(true).open(self.folder.join("log"))?;
        let mut command = Command::new("nsenter");
        command.args([
            "--target",
            network,
            "--net",
            "unshare",
            "--mount",
            "--uts",
            "sh",
            "-c",
            SCRIPT,
            "container",
        ]);
        command.args(self.arguments()?).args(&self.command);
        command.env_clear().envs(&self.environment).current_dir("/");
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        command.spawn()
    }

    /// What the script wants to know before the command.
    fn arguments(&self) -> io::Result<[String; 6]> {
        let (root, mounts) = (self.folder.join("root"), self.folder.join("mounts"));
        fs::create_dir_all(&root)?;
        fs::write(&mounts, self.mount_table()?)?;
        let (user, group) = self.user();
        let read_only = self.spec.container().security_context.read_only_root_filesystem;
        let security = &self.spec.security_context;
        let groups: Vec<String> =
            security.fs_group.iter().chain(&security.supplemental_groups).map(ToString::to_string).collect();
        let shown = |path: &Path| path.display().to_string();
        let mode = if read_only { "ro" } else { "rw" };
        let user = format!("{user}:{group}");
        Ok([shown(&root), mode.to_owned(), user, groups.join(","), shown(&mounts), self.pod.clone()])
    }

    /// Whom it runs as. Root is refused, whatever the rendered manifest says of it.
    fn user(&self) -> (u32, u32) {
        let (pod, own) = (&self.spec.security_context, &self.spec.container().security_context);
        let user = own.run_as_user.or(pod.run_as_user).unwrap_or(self.image.user.0);
        assert!(user != 0, "{}: runs as root", self.pod);
        let said = own.run_as_non_root.or(pod.run_as_non_root);
        assert!(said == Some(true), "{}: does not say runAsNonRoot", self.pod);
        (user, own.run_as_group.or(pod.run_as_group).unwrap_or(self.image.user.1))
    }

    fn mount_table(&self) -> io::Result<String> {
        let mut table = String::new();
        let mut add = |mode: &str, source: &Path, target: &str| {
            // Nothing can go wrong in a text.
            let _written = writeln!(table, "{mode}\t{}\t{target}", source.display());
        };
        for path in FROM_THE_MACHINE.map(Path::new).into_iter().filter(|path| path.exists()) {
            let mode = if path.is_symlink() { "link" } else { "ro" };
            add(mode, path, &path.to_string_lossy());
        }
        DEVICES.iter().for_each(|device| add("rw", Path::new(device), device));
        for file in fs::read_dir(self.folder.join("etc"))? {
            let file = file?;
            add("ro", &file.path(), &format!("/etc/{}", file.file_name().to_string_lossy()));
        }
        add("ro", &self.image.program, &self.image.path);
        for mount in &self.mounts {
            add(if mount.read_only { "ro" } else { "rw" }, &mount.source, &mount.target);
        }
        Ok(table)
    }
}

impl Drop for Container {
    #[expect(clippy::print_stderr, reason = "the log of a failed test is shown beside its panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("== log of {}\n{}", self.pod, self.log());
        }
    }
}
