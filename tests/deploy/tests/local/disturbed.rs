//! What goes wrong, or is done on purpose, while applications call.

use super::{load::Load, system::System};
use rustix::process::{Pid, Signal, kill_process};
use signalbox_local::{Kind, Part};

/// Vendors take their time, so that something is under way whenever something happens.
const PACE: &str = "delay=30,trickle=3";

pub(super) async fn every_role_is_restarted_and_nobody_notices(system: &System) {
    system.fault(PACE).await;
    let load = Load::start(system, "rolled").await;
    let rolled = system.local(&["roll", "all"]).await;
    assert!(rolled.good, "{rolled:?}");
    assert_eq!(rolled.says.lines().count(), Part::roles().count(), "{rolled:?}");
    load.goes_on().await;
    let seen = load.stop(system).await;
    assert!(seen.lost.is_empty(), "{} of {}: {:#?}", seen.lost.len(), seen.answered.len(), seen.lost);
}

pub(super) async fn certificates_are_replaced_and_nobody_notices(system: &System) {
    let load = Load::start(system, "rotated").await;
    let rotated = system.local(&["rotate"]).await;
    assert!(rotated.good, "{rotated:?}");
    load.goes_on().await;
    let seen = load.stop(system).await;
    assert!(seen.lost.is_empty(), "{} of {}: {:#?}", seen.lost.len(), seen.answered.len(), seen.lost);
}

/// Whoever comes back speaks with the others by the new certificates.
pub(super) async fn one_process_of_each_role_is_killed_and_every_request_has_its_row(system: &System) {
    let load = Load::start(system, "struck").await;
    for part in [Kind::Ingest, Kind::Budget, Kind::Cache, Kind::Adapter, Kind::Router]
        .map(|kind| Part { kind, number: 1 })
    {
        let before = load.lost();
        let pid = Pid::from_raw(system.pid(part)).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        load.goes_on().await;
        let back = system.local(&["up"]).await;
        assert!(back.good && back.says.contains(&part.to_string()), "{back:?}");
        load.goes_on().await;
        // A stream that has begun cannot be moved: it breaks off with the process that brought it.
        if !matches!(part.kind, Kind::Adapter | Kind::Router) {
            assert_eq!(load.lost(), before, "nobody waits for {part}");
        }
    }
    let seen = load.stop(system).await;
    for (id, told) in &seen.lost {
        assert!(told.contains("Unavailable"), "{id}: {told}");
    }
}

pub(super) async fn a_drill_passes(system: &System) {
    let load = Load::start(system, "drilled").await;
    let (router, vendor) = (system.stack.urls(Kind::Router).remove(0), load.busiest());
    let whom = ["drill", "run", "--server", &router, "--vendor", &vendor];
    let how = ["--status", "500", "--share", "1", "--duration", "3s"];
    let drill = system.signalbox(&system.stack.secrets().admin_key, &[whom, how].concat()).await;
    assert!(drill.good, "{drill:?}");
    let seen = load.stop(system).await;
    assert!(seen.lost.is_empty(), "{:#?}", seen.lost);
}
