//! The small runs. `make chaos` makes the large ones.

use signalbox_chaos::{BudgetWish, Mode, Report, Wish, run, run_budget};

async fn report(mode: Mode) -> Result<Report, String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let wish = Wish {
        mode,
        events: 20_000,
        kills: 4,
        rate: 8_000,
        seed: 5,
        store_dies: false,
        nats_dies: true,
        program: env!("CARGO_BIN_EXE_chaos").into(),
    };
    run(&wish, dir.path()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_counts_once_whoever_between_it_and_the_store_is_killed() {
    let report = report(Mode::Nats).await.unwrap();
    assert_eq!(report.problems, [] as [&str; 0], "killed: {:?}", report.killed);
    assert_eq!(report.killed.values().sum::<usize>(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_counts_once_when_the_one_process_is_killed() {
    let report = report(Mode::Embedded).await.unwrap();
    assert_eq!(report.problems, [] as [&str; 0], "killed: {:?}", report.killed);
    assert_eq!(report.killed.values().sum::<usize>(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_holds_and_every_request_is_settled_once_whoever_keeps_it_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let wish = BudgetWish { requests: 600, kills: 7, clients: 64, seed: 3 };
    let report = run_budget(&wish, dir.path()).await.unwrap();
    assert_eq!(report.verdict.problems, [] as [&str; 0], "{report:?}");
    assert_eq!(report.killed.values().sum::<usize>(), 7);
    assert_eq!(report.verdict.over, 0, "{report:?}");
}
