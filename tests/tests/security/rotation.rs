//! All certificates are changed while calls go on, and then the authority behind them.

use super::{
    load::Load,
    strangers::{Caller, Visit},
};
use serde_json::json;
use signalbox_api::v1::{Tenant, api_key::Scope};
use signalbox_certificates::Authority;
use signalbox_testkit::{Certificates, Fleet, FleetSize, Signalbox, at_simulator, eventually};
use signalbox_vendorsim::Simulator;

/// How often each process has taken over a change of its files.
async fn reloads(processes: impl Iterator<Item = &Signalbox>) -> Vec<f64> {
    let mut counts = Vec::new();
    for process in processes {
        let good = [("use", "mtls"), ("result", "ok")];
        counts.push(process.metrics().await.sum("signalbox_tls_reloads_total", &good));
    }
    counts
}

/// Does something to the files and waits until every process has taken it over.
async fn change(fleet: &mut Fleet, routers: &[Signalbox], change: impl FnOnce(&mut Certificates)) {
    let before = reloads(fleet.processes().chain(routers)).await;
    change(&mut fleet.certificates);
    eventually("every process has taken over its files", || async {
        let now = reloads(fleet.processes().chain(routers)).await;
        now.iter().zip(&before).all(|(now, before)| now > before)
    })
    .await;
}

/// So many calls are served after something was done.
async fn goes_on(load: &Load) {
    let until = load.served() + 20;
    eventually("calls are served", || async { load.served() >= until }).await;
}

/// Ends a process as an upgrade does, and starts it again: all connections to it and from it are made anew.
async fn replace(process: &mut Signalbox) {
    process.terminate();
    process.ended().await;
    process.restart().await;
    eventually("it is ready again", || async { process.ready().await.is_ok() }).await;
}

#[tokio::test]
async fn certificates_and_their_authority_are_changed_under_load_and_no_call_is_lost() {
    let vendors = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
    let mut config = at_simulator(&vendors);
    // Longer than a busy machine takes to start a process.
    signalbox_testkit::merge(&mut config, json!({"failover": {"adapter_patience": "60s"}}));
    let mut fleet = Fleet::start(FleetSize { routers: 2, budgets: 2 }, &config).await;
    fleet.budgets[0]
        .add_tenant(Fleet::ADMIN_KEY, Tenant { tenant_id: "acme".into(), ..Tenant::default() })
        .await;
    let (_, key) = fleet.budgets[0].make_key(Fleet::ADMIN_KEY, "acme", Scope::Tenant).await;
    let routers = std::mem::take(&mut fleet.routers);
    let next = Authority::new();
    let mut before = None;
    Load::during(&routers, &key, async |load| {
        change(&mut fleet, &routers, |all| all.trust(&[all.authority(), &next])).await;
        // What is new meets what is old, in both directions.
        replace(&mut fleet.adapter).await;
        goes_on(load).await;
        change(&mut fleet, &routers, |all| before = Some(all.reissue(next))).await;
        replace(&mut fleet.budgets[0]).await;
        goes_on(load).await;
        change(&mut fleet, &routers, |all| all.trust(&[all.authority()])).await;
        replace(&mut fleet.adapter).await;
        replace(&mut fleet.budgets[1]).await;
        goes_on(load).await;
    })
    .await;
    // The old authority's certificates open nothing any more.
    let old = Caller::of(&before.unwrap(), &["router"]);
    let visits: Vec<Visit> =
        fleet.processes().chain(&routers).map(|process| Visit::to(process).by(&old)).collect();
    futures_util::future::join_all(visits.iter().map(Visit::refused)).await;
}
