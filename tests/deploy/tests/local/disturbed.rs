//! What goes wrong, or is done on purpose, while applications call.

use super::{job::Job, system::System};
use signalbox_chaos::up::{Load, Verdict};
use signalbox_local::{Kind, Part, kill};

/// Vendors take their time, so that something is under way whenever something happens.
const PACE: &str = "delay=30,trickle=3";
/// Calls and streams at once.
const CLIENTS: usize = 6;

pub(super) async fn every_role_is_restarted_and_nobody_notices(system: &System) {
    system.fault(PACE).await;
    let load = load(system, "rolled").await;
    let rolled = system.local(&["roll", "all"]).await;
    assert!(rolled.good, "{rolled:?}");
    assert_eq!(rolled.says.lines().count(), Part::roles().count(), "{rolled:?}");
    nobody_noticed(system, load).await;
}

pub(super) async fn certificates_are_replaced_and_nobody_notices(system: &System) {
    let load = load(system, "rotated").await;
    let rotated = system.local(&["rotate"]).await;
    assert!(rotated.good, "{rotated:?}");
    nobody_noticed(system, load).await;
}

/// Whoever comes back speaks with the others by the new certificates.
pub(super) async fn one_process_of_each_role_is_killed_and_every_request_has_its_row(system: &System) {
    let load = load(system, "struck").await;
    let job = Job::hand_in(system, "delayed").await;
    let roles = [Kind::Batch, Kind::Ingest, Kind::Budget, Kind::Cache, Kind::Adapter, Kind::Router];
    for part in roles.map(first) {
        let before = load.lost();
        kill(&system.stack, part).await.unwrap();
        goes_on(&load).await;
        let back = system.local(&["up"]).await;
        assert!(back.good && back.says.contains(&part.to_string()), "{back:?}");
        goes_on(&load).await;
        // A stream that has begun cannot be moved: it breaks off with the process that brought it.
        if !matches!(part.kind, Kind::Adapter | Kind::Router) {
            assert_eq!(load.lost(), before, "nobody waits for {part}");
        }
    }
    let Verdict { lost, problems, .. } = load.stop(&system.stack).await.unwrap();
    assert_eq!(problems, [] as [&str; 0]);
    for (id, told) in &lost {
        assert!(told.contains("Unavailable"), "{id}: {told}");
    }
    job.is_answered(system).await;
}

pub(super) async fn a_drill_passes(system: &System) {
    let load = load(system, "drilled").await;
    let (router, vendor) = (system.stack.urls(Kind::Router).remove(0), load.busiest());
    let whom = ["drill", "run", "--server", &router, "--vendor", &vendor];
    let how = ["--status", "500", "--share", "1", "--duration", "3s"];
    let drill = system.signalbox(&system.stack.secrets().admin_key, &[whom, how].concat()).await;
    assert!(drill.good, "{drill:?}");
    nobody_noticed(system, load).await;
}

pub(super) async fn a_process_that_does_not_start_is_told_with_the_end_of_its_log(system: &System) {
    let nats = first(Kind::Nats);
    kill(&system.stack, nats).await.unwrap();
    let streams = system.stack.folder().data(nats).join("jetstream");
    std::fs::remove_dir_all(&streams).unwrap();
    std::fs::write(&streams, "no folder").unwrap();
    let up = system.local(&["up"]).await;
    assert!(!up.good && up.errors.contains("nats-1 ended before it was ready"), "{up:?}");
    assert!(up.errors.contains("logs/nats-1.log:") && up.errors.contains("JetStream"), "{up:?}");
}

fn first(kind: Kind) -> Part {
    Part { kind, number: 1 }
}

/// A steady load, as a tenant of its own.
async fn load(system: &System, tenant: &str) -> Load {
    let load = Load::start(&system.stack, tenant, CLIENTS).await.unwrap();
    goes_on(&load).await;
    load
}

async fn goes_on(load: &Load) {
    load.reaches(load.answered() + 4 * CLIENTS).await.unwrap();
}

/// No request was lost, and each has its row.
async fn nobody_noticed(system: &System, load: Load) {
    goes_on(&load).await;
    let Verdict { answered, lost, problems, .. } = load.stop(&system.stack).await.unwrap();
    assert!(lost.is_empty(), "{} and {answered}: {lost:#?}", lost.len());
    assert_eq!(problems, [] as [&str; 0]);
}
