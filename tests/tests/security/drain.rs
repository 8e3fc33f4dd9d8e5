//! Processes that end while they are called over TLS.

use super::load::Load;
use serde_json::json;
use signalbox_testkit::{Topology, World, eventually};

#[tokio::test]
async fn adapters_that_are_ended_in_turn_finish_what_they_have_begun() {
    let config = json!({"failover": {"adapter_patience": "60s"}});
    let mut world = World::start(Topology::Remote, config).await;
    world.fault(signalbox_vendorsim::Vendor::Openai, "delay=20,trickle=2");
    let mut adapters = std::mem::take(&mut world.signalbox.adapters);
    Load::during(std::slice::from_ref(&world.signalbox.router), "", async |load| {
        for adapter in &mut adapters {
            let until = load.served() + 10;
            eventually("calls are served", || async { load.served() >= until }).await;
            adapter.terminate();
            assert!(adapter.ended().await.success());
            adapter.restart().await;
            eventually("it is ready again", || async { adapter.ready().await.is_ok() }).await;
        }
    })
    .await;
}
