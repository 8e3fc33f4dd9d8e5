//! A system that `make up` has started, which each test has for itself for a while: its roles are restarted with what the
//! test is about, its engines and what is in them stay.

mod accounts;
mod process;

pub(crate) use process::UpProcess;

use crate::{Key, Signalbox, built, files::replace};
use serde_json::{Value, json};
use signalbox_api::v1::{Tenant, UsageEvent, api_key::Scope};
use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
    sync::{LazyLock, OnceLock},
    time::SystemTime,
};
use tokio::{process::Command, task::spawn_blocking};

/// Variable that names the folder of the system.
const FOLDER: &str = "SIGNALBOX_UP";

/// What sets this run's names apart from those of runs before, all of whose traces the system has kept.
static APART: LazyLock<String> =
    LazyLock::new(|| std::env::var_os(FOLDER).map_or_else(String::new, |_| format!("-{}", random())));

/// A name of this run's own, for what outlives a test where the system does, such as a tenant. The name itself elsewhere.
pub fn own(name: &str) -> String {
    format!("{name}{}", *APART)
}

/// Nobody else has the system from now on, until this process ends: a test may have one world after another in it.
fn lease() {
    static LEASE: OnceLock<File> = OnceLock::new();
    LEASE.get_or_init(|| {
        let path = PathBuf::from(std::env::var_os(FOLDER).unwrap_or_default()).join("lease");
        let file = File::options().create(true).append(true).open(&path);
        let leased = file.and_then(|file| file.lock().map(|()| file));
        leased.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    });
}

fn random() -> String {
    // The kernel's, so that no dependency is needed for it.
    let text = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
    text.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// The system, for as long as a test has it.
#[derive(Debug)]
pub(crate) struct Up {
    folder: PathBuf,
    /// What it said of itself.
    facts: Value,
    /// What is different for this test.
    fit: Value,
    since: SystemTime,
    /// How much each process had logged before.
    logged: HashMap<String, u64>,
}

impl Up {
    /// Waits for the system, and restarts its roles with a configuration laid over theirs, and an environment.
    pub(crate) async fn fitted(config: &Value, env: &[(&str, &str)]) -> Self {
        let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
            panic!("{FOLDER} names no folder of a system that is up: `make test-up` does");
        };
        spawn_blocking(lease).await.unwrap_or_else(|_| panic!("{FOLDER} cannot be leased"));
        let environment: Value = env.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let secret = format!("{0}{0}{0}{0}", random());
        let fit = json!({"overlay": config, "environment": environment, "cache_secret": secret});
        let logged = logged(&folder.join("logs"));
        let facts = fitted(&folder, &fit).await;
        #[expect(clippy::disallowed_methods, reason = "the processes go by the real time")]
        let since = SystemTime::now();
        Self { folder, facts, fit, since, logged }
    }

    /// Lets its roles take over another configuration.
    pub(crate) fn reconfigure(&mut self, config: &Value) {
        self.fit["overlay"] = config.clone();
        let file = written(&self.fit);
        let status = std::process::Command::new(built("local"))
            .arg("--folder")
            .arg(&self.folder)
            .args(["fit", "--running", "--with"])
            .arg(file.path())
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "the configuration cannot be changed");
    }

    /// Writes a text to the files of all its roles; whoever has it next writes them anew.
    pub(crate) fn overwrite(&self, text: &str) {
        let parts = self.facts["parts"].as_object().into_iter().flat_map(|parts| parts.values());
        parts.filter_map(|part| part["config"].as_str()).for_each(|file| replace(Path::new(file), text));
    }

    /// One of its processes, by a name as in `router-1`. Who calls it without saying who they are is its operator.
    pub(crate) fn process(&self, name: &str) -> Signalbox {
        let part = &self.facts["parts"][name];
        assert!(part.is_object(), "there is no process `{name}`");
        let log_from = self.logged.get(name).copied().unwrap_or_default();
        Signalbox::of_up(UpProcess::new(&self.folder, name, part, log_from), part, self.operator())
    }

    fn operator(&self) -> Key {
        Key::new(self.facts["admin_key"].as_str().unwrap_or_default())
    }

    /// A key of a new tenant.
    pub(crate) async fn tenants_key(&self) -> Key {
        let (books, tenant_id) = (self.process("budget-1"), own("test"));
        let tenant = Tenant { tenant_id: tenant_id.clone(), ..Tenant::default() };
        let admin = self.facts["admin_key"].as_str().unwrap_or_default();
        // A test that starts several worlds has made it before.
        let _there = books.try_add_tenant(admin, tenant).await;
        Key::new(&books.make_key(admin, &tenant_id, Scope::Tenant).await.1)
    }

    /// The accounts of what was asked since then, from the usage store.
    pub(crate) async fn accounts(&self) -> Vec<UsageEvent> {
        accounts::since(&self.process("ingest-1"), self.since).await
    }
}

/// How much each process has logged.
fn logged(logs: &Path) -> HashMap<String, u64> {
    let entries = std::fs::read_dir(logs).into_iter().flatten().flatten();
    let length = |entry: std::fs::DirEntry| {
        let name = entry.path().file_stem()?.to_string_lossy().into_owned();
        Some((name, entry.metadata().ok()?.len()))
    };
    entries.filter_map(length).collect()
}

/// Restarts all roles, and gives what the system says of itself.
async fn fitted(folder: &Path, fit: &Value) -> Value {
    let file = written(fit);
    let mut command = Command::new(built("local"));
    command.arg("--folder").arg(folder).args(["fit", "--with"]).arg(file.path());
    let output = command.output().await.unwrap_or_else(|error| panic!("local: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}{complaint}");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("local said `{said}`: {error}"))
}

fn written(fit: &Value) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap_or_else(|error| panic!("no temporary file: {error}"));
    std::fs::write(file.path(), fit.to_string()).unwrap_or_else(|error| panic!("{error}"));
    file
}
