//! A part of this machine of one's own.

use crate::helm::NAMESPACE;
use rustix::mount::mount_bind;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Where a test that runs in private finds its folder, which says that it does.
const FOLDER: &str = "SIGNALBOX_CLUSTER_FOLDER";
/// What it leaves there when all was well.
const VERDICT: &str = "verdict";

/// Runs a test's body in namespaces of its own for mounts, the network and processes, with a folder that is empty:
/// nothing it does there touches the machine's own network, and the system ends all of it with the body. The test runs
/// itself again for that, so it must be called from the test's own thread.
///
/// # Panics
/// The body did, the machine permits no namespaces, or something was left.
pub fn privately<F: Future<Output = ()>>(body: impl FnOnce(PathBuf) -> F) {
    match std::env::var_os(FOLDER) {
        Some(folder) => inside(PathBuf::from(folder), body),
        None => match std::thread::current().name() {
            Some(test) => outside(test),
            None => panic!("a thread without a name is no test's"),
        },
    }
}

fn outside(test: &str) {
    let folder = tempfile::Builder::new().prefix("signalbox-cluster-").tempdir();
    let folder = folder.unwrap_or_else(|error| panic!("no temporary folder: {error}"));
    let own = std::env::current_exe().unwrap_or_else(|error| panic!("{error}"));
    let namespaces = namespaces();
    let permitted = Command::new("unshare").args(&namespaces).arg("true").output();
    let refused = match permitted {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = refused {
        panic!(
            "this test needs namespaces of its own for users, mounts, the network and processes: be root, or permit \
             them to users (newuidmap, /etc/subuid), and have `unshare` (util-linux) and `ip` (iproute2). `unshare {}` \
             said: {why}",
            namespaces.join(" ")
        );
    }
    // It ends with this process, and everything in it with it, also when this process is killed.
    let output = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "unshare"])
        .args(&namespaces)
        .arg(own)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap_or_else(|error| panic!("setpriv: {error}"));
    let verdict = fs::read_to_string(folder.path().join(VERDICT));
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let Ok(verdict) = verdict else { panic!("{said}\n{told}") };
    assert!(output.status.success(), "{said}\n{told}");
    nothing_is_left(&verdict, folder.path());
}

/// Of a root, as it is; of others, with users of their own that they may become.
fn namespaces() -> Vec<&'static str> {
    let mut namespaces = vec!["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
    if !rustix::process::geteuid().is_root() {
        namespaces.extend(["--map-root-user", "--map-auto"]);
    }
    namespaces
}

fn inside<F: Future<Output = ()>>(folder: PathBuf, body: impl FnOnce(PathBuf) -> F) {
    look_names_up_in_the_cluster(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
    let processes = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    runtime.block_on(body(folder.clone()));
    drop(runtime);
    fs::write(folder.join(VERDICT), processes.to_string_lossy().as_bytes())
        .unwrap_or_else(|error| panic!("{error}"));
}

/// What is written for pods holds for the test, too.
fn look_names_up_in_the_cluster(folder: &Path) {
    for (name, content) in resolver_files(NAMESPACE) {
        let (own, machine) = (folder.join(name), Path::new("/etc").join(name));
        let bound = fs::write(&own, content).and_then(|()| mount_bind(&own, &machine).map_err(Into::into));
        bound.unwrap_or_else(|error| panic!("{}: {error}", machine.display()));
    }
}

/// What tells the C library to look names up as pods of a namespace do.
pub(super) fn resolver_files(namespace: &str) -> [(&'static str, String); 2] {
    let node = super::network::NODE;
    let search = format!("{namespace}.svc.cluster.local svc.cluster.local cluster.local");
    [
        ("resolv.conf", format!("nameserver {node}\nsearch {search}\noptions ndots:5\n")),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
    ]
}

/// Namespaces go with the last process in them, and so do mounts, but for those of the machine itself.
fn nothing_is_left(processes: &str, folder: &Path) {
    let running = fs::read_dir("/proc").into_iter().flatten().flatten();
    let left: Vec<PathBuf> = running
        .map(|entry| entry.path())
        .filter(|process| {
            fs::read_link(process.join("ns/pid")).is_ok_and(|own| own.to_string_lossy() == processes)
        })
        .collect();
    assert!(left.is_empty(), "processes are left: {left:?}");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let folder = folder.to_string_lossy();
    let left: Vec<&str> = mounts.lines().filter(|line| line.contains(&*folder)).collect();
    assert!(left.is_empty(), "mounts are left: {left:?}");
}
