//! What one router learns of a vendor, the others know.

use serde_json::{Value, json};
use signalbox_api::v1::ExplainRouteRequest;
use signalbox_testkit::{
    NatsServer, Options, Signalbox, Topology, World,
    ask::{Mode, ask, request},
    at_simulator, both_topologies, eventually, eventually_some,
};
use signalbox_vendorsim::{Fault, Match, Simulator, Times, Vendor};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ALIAS: &str = "mixed";

/// Two routers and two adapters, each a process of its own.
struct Fleet {
    vendors: Simulator,
    routers: Vec<Signalbox>,
    adapters: Vec<Signalbox>,
    env: Vec<(String, String)>,
    folder: TempDir,
}

impl Fleet {
    async fn start(change: impl FnOnce(&mut Value)) -> Self {
        let vendors = Simulator::builder().keep_requests(4096).bind("127.0.0.1:0").await.unwrap();
        let mut config = at_simulator(&vendors);
        config["routing"] = json!({"order": "scored"});
        config["aliases"] = json!({ALIAS: {"targets": [
            "openai/gpt-6-luna", "anthropic/claude-haiku-5-5", "gemini/gemini-3.5-flash-lite"]}});
        change(&mut config);
        let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
        let mut env: Vec<_> = keys.map(|name| (name.to_owned(), format!("key-of-{name}"))).into();
        env.push(("NATS_PASSWORD".to_owned(), PASSWORD.to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let mut fleet = Self { vendors, routers: Vec::new(), adapters: Vec::new(), env, folder };
        for _ in 0..2 {
            let adapter = fleet.serve("adapter", &config).await;
            fleet.adapters.push(adapter);
        }
        let addresses = fleet.adapters.iter().map(|adapter| format!("http://{}", adapter.address()));
        config["peers"] = json!({"adapter": addresses.collect::<Vec<_>>()});
        for _ in 0..2 {
            let router = fleet.serve("router", &config).await;
            eventually("the router is ready", || async { router.ready().await.is_ok() }).await;
            fleet.routers.push(router);
        }
        fleet
    }

    async fn serve(&self, roles: &'static str, config: &Value) -> Signalbox {
        let file = self.folder.path().join(format!("{roles}.yaml"));
        std::fs::write(&file, config.to_string()).unwrap();
        Signalbox::serve(Options { config: Some(file), roles, env: self.env.clone(), ..Options::default() })
            .await
    }

    fn fail(&self, vendor: Vendor) {
        self.vendors.set_fault(Match::vendor(vendor), Fault::parse("status=500").unwrap(), Times::Always);
    }

    /// Calls that a vendor fails, by the first router.
    async fn failing_calls(&self, model: &str) {
        for _ in 0..4 {
            ask(&mut self.routers[0].client(), Mode::Unary, request(model, "Hello?")).await.unwrap_err();
        }
    }

    /// Waits until a router that has called nobody knows that a vendor fails.
    async fn second_router_sees_failing(&self, vendor: &str) {
        let router = &self.routers[1];
        let what = format!("the second router sees {vendor} failing");
        eventually(&what, || async { health(router, vendor).await < 0.5 }).await;
    }

    fn processes(&self) -> impl Iterator<Item = &Signalbox> {
        self.routers.iter().chain(&self.adapters)
    }
}

/// The health factor of a vendor's model, as a router explains it.
async fn health(router: &Signalbox, vendor: &str) -> f64 {
    let asked = ExplainRouteRequest { request: Some(request(ALIAS, "Hello?")), stream: false };
    let answer = router.client().explain_route(asked).await.unwrap().into_inner();
    let decision = answer.decision.unwrap();
    let candidate = decision.candidates.iter().find(|candidate| candidate.vendor == vendor).unwrap();
    candidate.factors.get("health").copied().unwrap_or_else(|| panic!("{candidate:?}"))
}

async fn a_router_scores_by_the_health_that_its_adapters_report(topology: Topology) {
    let config = json!({
        "routing": {"order": "scored"},
        "aliases": {ALIAS: {"targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"]}},
    });
    let world = World::start(topology, config).await;
    let router = &world.signalbox.router;
    let before = health(router, "openai").await;
    world.fault(Vendor::Openai, "status=500");
    for _ in 0..4 {
        ask(&mut world.client(), Mode::Unary, request("openai/gpt-6-luna", "Hello?")).await.unwrap_err();
    }
    eventually("the failures count", || async { health(router, "openai").await < before / 2.0 }).await;
    assert!((health(router, "anthropic").await - before).abs() < 1e-9);
    let labels = [("vendor", "openai"), ("model", "gpt-6-luna")];
    let told = router.metrics().await.sum("signalbox_model_health", &labels);
    assert!(told > 0.0 && told < 0.5, "{told}");
}

both_topologies!(a_router_scores_by_the_health_that_its_adapters_report);

#[tokio::test]
async fn routers_without_nats_know_what_each_adapter_sees() {
    let mut fleet = Fleet::start(|_| {}).await;
    fleet.fail(Vendor::Openai);
    fleet.failing_calls("openai/gpt-6-luna").await;
    fleet.second_router_sees_failing("openai").await;
    let others = health(&fleet.routers[1], "anthropic").await;
    assert!(health(&fleet.routers[1], "openai").await < others, "others are as healthy as before");
    // An adapter that comes back is followed again.
    for adapter in &mut fleet.adapters {
        adapter.kill().await;
        adapter.restart().await;
    }
    eventually("the routers have found them", || async {
        let mut client = fleet.routers[0].client();
        ask(&mut client, Mode::Unary, request("anthropic/claude-haiku-5-5", "Hello?")).await.is_ok()
    })
    .await;
    fleet.fail(Vendor::Gemini);
    fleet.failing_calls("gemini/gemini-3.5-flash-lite").await;
    fleet.second_router_sees_failing("gemini").await;
}

#[tokio::test]
async fn routers_know_over_nats_what_each_adapter_sees_and_miss_nobody_while_it_is_away() {
    let mut nats = NatsServer::start().await;
    let fleet = Fleet::start(|config| config["nats"] = json!({"servers": [nats.url()]})).await;
    fleet.fail(Vendor::Openai);
    fleet.failing_calls("openai/gpt-6-luna").await;
    fleet.second_router_sees_failing("openai").await;

    nats.kill().await;
    for process in fleet.processes() {
        eventually("its absence is told", || async { process.log().contains("NATS is away") }).await;
    }
    for _ in 0..3 {
        for router in &fleet.routers {
            assert_eq!(router.ready().await, Ok(()));
            let asked = request("anthropic/claude-haiku-5-5", "Hello?");
            ask(&mut router.client(), Mode::Unary, asked).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    nats.restart().await;
    for process in fleet.processes() {
        let back = || async { process.log().matches("NATS connected").count() == 2 };
        eventually("its return is told", back).await;
        assert_eq!(process.log().matches("NATS is away").count(), 1, "once is enough: {}", process.log());
    }
    fleet.fail(Vendor::Gemini);
    fleet.failing_calls("gemini/gemini-3.5-flash-lite").await;
    fleet.second_router_sees_failing("gemini").await;
}

const PASSWORD: &str = "s3cr3t-of-nats";

#[tokio::test]
async fn a_fleet_that_starts_before_nats_joins_it_with_a_password_that_is_nowhere_told() {
    let mut nats = NatsServer::with(&["--user", "signalbox", "--pass", PASSWORD]).await;
    nats.kill().await;
    let fleet = Fleet::start(|config| {
        let password = json!({"env": "NATS_PASSWORD"});
        config["nats"] = json!({"servers": [nats.url()], "user": "signalbox", "password": password});
    })
    .await;
    nats.restart().await;
    fleet.fail(Vendor::Openai);
    fleet.failing_calls("openai/gpt-6-luna").await;
    fleet.second_router_sees_failing("openai").await;
    for process in fleet.processes() {
        assert!(!process.log().contains(PASSWORD), "{}", process.log());
    }
}

#[tokio::test]
async fn an_idle_vendor_gets_one_accounted_heartbeat_by_the_whole_fleet() {
    const INTERVAL: Duration = Duration::from_secs(2);
    let nats = NatsServer::start().await;
    let fleet = Fleet::start(|config| {
        config["nats"] = json!({"servers": [nats.url()]});
        config["heartbeat"] = json!({"enabled": true, "interval": "2s", "timeout": "2s"});
    })
    .await;
    let calls = || fleet.vendors.requests().iter().filter(|call| call.vendor == Vendor::Openai).count();
    let reached = |count| async move {
        eventually_some("a heartbeat comes", || async { (calls() >= count).then(Instant::now) }).await
    };
    // The first ones come before the adapters have heard of each other, and on a busy machine one may step in for another
    // that it heard late. Two that knew nothing of each other would make these four within two intervals.
    let (third, sixth) = (reached(3).await, reached(6).await);
    let apart = sixth - third;
    assert!(apart > INTERVAL * 2 + INTERVAL / 4, "four heartbeats within {apart:?}");

    let request = fleet.vendors.requests().into_iter().find(|call| call.vendor == Vendor::Openai).unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!((&body["max_completion_tokens"], &body["stream"]), (&json!(1), &json!(true)), "{body}");
    assert!(body.get("tools").is_none(), "{body}");

    let openai = [("vendor", "openai")];
    let mut accounted = (0.0, 0.0);
    for adapter in &fleet.adapters {
        let metrics = adapter.metrics().await;
        accounted.0 += metrics.sum("signalbox_heartbeats_total", &[("vendor", "openai"), ("result", "ok")]);
        accounted.1 += metrics.sum("signalbox_cost_nano_eur_total", &openai);
    }
    assert!(accounted.0 >= 3.0 && accounted.1 > 0.0, "{accounted:?}");
}
