//! The bodies of this suite in the system that `make up` starts: each in a process of its own, one after the other.

mod left_out;

use left_out::LEFT_OUT;
use signalbox_testkit::built;
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

/// Names the folder of a system that is up.
const FOLDER: &str = "SIGNALBOX_UP";
/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// One of each kind, for the gate; `make test-up` runs all.
const SOME: [&str; 13] = [
    "accounting::up::failed_attempts_cost_too",
    "bad_input::up::what_is_wrong_is_told_with_its_field",
    "batch::vendors::up::structured_output_passes_the_same_gate",
    "budgets::money::up::a_hard_budget_is_never_passed_and_then_says_which_it_was",
    "budgets::rates::up::requests_at_once_are_limited",
    "cache::kept::up::the_same_request_gets_its_answer_again_for_nothing",
    "cache::kept::up::identical_requests_at_the_same_time_are_one_call",
    "cancel::up::a_dropped_stream_stops_the_vendor_call",
    "explain::up::every_candidate_is_told_with_its_factors_or_why_it_is_out",
    "failover::up::a_fault_of_the_request_is_told_and_tried_nowhere_else",
    "matrix::up::every_form_works_at_anthropic",
    "policies::up::a_vendor_that_a_tenant_denies_is_never_called_for_it",
    "usage::up::sums_are_what_callers_were_told",
];

#[tokio::test]
async fn some_of_every_kind_pass_in_a_system_that_is_up() {
    let system = System::get().await;
    let failed = system.run(&SOME.map(str::to_owned)).await;
    system.down().await;
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
#[ignore = "`make test-up`"]
async fn all_but_those_left_out_pass_in_a_system_that_is_up() {
    let (all, out): (_, BTreeMap<_, _>) = (bodies().await, LEFT_OUT.into());
    let run: Vec<String> = all.iter().filter(|name| !out.contains_key(&***name)).cloned().collect();
    let system = System::get().await;
    let failed = system.run(&run).await;
    system.down().await;
    println!("\n{} of {} bodies were run; left out:", run.len(), all.len());
    out.iter().for_each(|(name, why)| println!("  {name}: {why}"));
    println!("{} passed, {} failed", run.len() - failed.len(), failed.len());
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
async fn what_is_run_and_what_is_left_out_are_bodies_of_this_suite() {
    let all = bodies().await;
    for name in SOME.iter().chain(LEFT_OUT.iter().map(|(name, _)| name)) {
        assert!(all.contains(*name), "there is no {name}");
    }
    assert!(SOME.iter().all(|name| LEFT_OUT.iter().all(|(out, _)| name != out)));
}

/// All bodies, by the names of their tests.
async fn bodies() -> BTreeSet<String> {
    let output = this().args(["--list", "--ignored"]).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    names.filter(|name| name.contains("::up::")).map(str::to_owned).collect()
}

/// This very program.
fn this() -> Command {
    Command::new(env::current_exe().unwrap())
}

/// A system that is up: whose folder is named, or one of its own.
struct System {
    folder: PathBuf,
    own: Option<TempDir>,
}

impl System {
    async fn get() -> Self {
        if let Some(folder) = env::var_os(FOLDER) {
            return Self { folder: folder.into(), own: None };
        }
        let own = tempfile::tempdir().unwrap();
        let system = Self { folder: own.path().join("local"), own: Some(own) };
        system.local(&["up", "--base-port", "0"]).await;
        system
    }

    /// Runs these one after the other, and names those that failed.
    #[expect(clippy::print_stdout, reason = "whoever waits sees how far it is")]
    async fn run(&self, names: &[String]) -> Vec<String> {
        let mut failed = Vec::new();
        for name in names {
            let began = Instant::now();
            let outcome = body(name, &self.folder).await;
            let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
            println!("{verdict:<7} {:5.1} s  {name}", began.elapsed().as_secs_f64());
            if let Err(said) = outcome {
                println!("{said}");
                failed.push(name.clone());
            }
        }
        failed
    }

    /// Gives back what was somebody's, as it was; ends what was not.
    async fn down(self) {
        self.local(&[if self.own.is_some() { "down" } else { "fit" }]).await;
    }

    async fn local(&self, arguments: &[&str]) {
        let mut command = Command::new(built("local"));
        let output = command.arg("--folder").arg(&self.folder).args(arguments).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // Only where a test has panicked is it still there.
        if self.own.is_some() && self.folder.exists() {
            let mut down = std::process::Command::new(built("local"));
            let _ended = down.arg("--folder").arg(&self.folder).arg("down").stdout(Stdio::null()).status();
        }
    }
}

/// Runs one body in a process of its own.
async fn body(name: &str, folder: &Path) -> Result<(), String> {
    let mut command = this();
    command.args([name, "--exact", "--ignored", "--nocapture"]).env(FOLDER, folder).kill_on_drop(true);
    let output = timeout(PATIENCE, command.output()).await;
    let output = output.map_err(|_| format!("not within {} s", PATIENCE.as_secs()))?.unwrap();
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
}
