//! What whoever runs Signalbox relies on.

use futures_util::{StreamExt as _, future::join_all, stream};
use serde_json::{Value, json};
use signalbox_api::v1::{GetConfigStatusRequest, GetModelRequest};
use signalbox_testkit::{
    Keyed, Topology, World,
    ask::{Mode, Streamed, ask, open, request},
    both_topologies, built, eventually, eventually_some,
};
use signalbox_vendorsim::Vendor;
use std::{
    cell::Cell,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;
use tonic::{Code, Request};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

async fn it_is_healthy_and_explains_itself(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let channel = world.signalbox.router.channel();
    let mut health = HealthClient::new(channel.clone());
    for service in ["", "signalbox.v1.RouterService"] {
        let check = HealthCheckRequest { service: service.to_owned() };
        let answer = health.check(check).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "`{service}`");
    }
    for services in [services_v1(channel.clone()).await, services_v1alpha(channel).await] {
        for name in ["signalbox.v1.RouterService", "signalbox.v1.AdminService", "grpc.health.v1.Health"] {
            assert!(services.iter().any(|service| service == name), "{name} is not in {services:?}");
        }
    }
}

/// What reflection lists, by one of its two versions: they differ in nothing but their package.
macro_rules! services_by {
    ($name:ident, $version:ident) => {
        async fn $name(channel: Keyed) -> Vec<String> {
            use tonic_reflection::pb::$version::{
                ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
                server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
            };
            let message_request = Some(MessageRequest::ListServices(String::new()));
            let question = ServerReflectionRequest { message_request, ..Default::default() };
            let mut client = ServerReflectionClient::new(channel);
            let asked = client.server_reflection_info(stream::iter([question])).await;
            let answer = asked.unwrap().into_inner().message().await.unwrap().unwrap();
            match answer.message_response {
                Some(MessageResponse::ListServicesResponse(list)) => {
                    list.service.into_iter().map(|service| service.name).collect()
                }
                other => panic!("{other:?}"),
            }
        }
    };
}

services_by!(services_v1, v1);
services_by!(services_v1alpha, v1alpha);

async fn told_to_stop_it_finishes_what_it_began_and_takes_nothing_new(topology: Topology) {
    let mut world = World::start(topology, json!({})).await;
    world.fault(Vendor::Openai, "trickle=20");
    let mut client = world.client();
    let mut running = open(&mut client, request("openai/gpt-6-luna", "Tell me a story.")).await.unwrap();
    assert!(running.message().await.unwrap().is_some());
    world.signalbox.router.terminate();
    eventually("new calls are refused", || async {
        let refused =
            ask(&mut world.client(), Mode::Unary, request("gemini/gemini-3.5-flash-lite", "Hello?")).await;
        refused.is_err_and(|status| status.code() == Code::Unavailable)
    })
    .await;
    // Whoever watches the process sees it drain.
    let missing = world.signalbox.router.ready().await.unwrap_err();
    assert!(missing.contains("process: draining"), "{missing}");
    assert!(world.signalbox.router.alive().await);
    assert!(world.signalbox.router.metrics().await.text().contains("signalbox_build_info"));
    let finished = Streamed::read(running).await;
    assert!(finished.end.is_ok(), "{:?}", finished.end);
    let status = world.signalbox.router.ended().await;
    assert!(status.success(), "{status}");
}

async fn a_watcher_hears_of_the_drain_and_does_not_hold_it_up(topology: Topology) {
    let mut world = World::start(topology, json!({})).await;
    let mut health = HealthClient::new(world.signalbox.router.channel());
    let mut watched = health.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    let told = Instant::now();
    world.signalbox.router.terminate();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    assert!(world.signalbox.router.ended().await.success());
    assert!(told.elapsed() < Duration::from_secs(15), "half of the drain's thirty seconds");
}

async fn a_killed_process_serves_again_once_restarted(topology: Topology) {
    let mut world = World::start(topology, json!({})).await;
    ask(&mut world.client(), Mode::Unary, request("fast", "Hello?")).await.unwrap();
    world.signalbox.router.kill().await;
    world.signalbox.router.restart().await;
    eventually("it is ready", || async { world.signalbox.router.ready().await.is_ok() }).await;
    // The same client connects anew.
    eventually("it serves", || async {
        ask(&mut world.client(), Mode::Unary, request("fast", "Hello?")).await.is_ok()
    })
    .await;
}

async fn a_change_of_the_file_takes_effect_and_a_bad_one_changes_nothing(topology: Topology) {
    let mut world = World::start(topology, json!({})).await;
    world.reconfigure(json!({"aliases": {"newsroom": {"targets": ["gemini/gemini-3.5-flash-lite"]}}}));
    eventually("the new alias is there", || async {
        let name = "newsroom".to_owned();
        world.client().get_model(GetModelRequest { name }).await.is_ok()
    })
    .await;
    let answer = ask(&mut world.client(), Mode::Unary, request("newsroom", "Hello?")).await.unwrap();
    assert_eq!(answer.route.vendor, "gemini");

    world.signalbox.reconfigure_with_text("aliases:\n  newsroom:\n    tragets: [openai/gpt-6-luna]\n");
    eventually("the bad file is complained about", || async {
        let status = world.signalbox.router.admin().get_config_status(GetConfigStatusRequest {}).await;
        let status = status.unwrap().into_inner().status.unwrap();
        let error = &status.last_error;
        let told = error.contains(":3:") && error.contains("tragets") && error.contains("targets");
        assert!(error.is_empty() || told, "{error}");
        status.failures == 1 && status.reloads == 1 && told
    })
    .await;
    let answer = ask(&mut world.client(), Mode::Unary, request("newsroom", "Hello?")).await.unwrap();
    assert_eq!(answer.route.vendor, "gemini", "the last good configuration stays");
    eventually("the metrics tell of it", || async {
        let metrics = world.signalbox.router.metrics().await;
        let refused = metrics.sum("signalbox_config_reloads", &[("result", "refused")]);
        let good = metrics.sum("signalbox_config_last_reload_success", &[]);
        refused >= 1.0 && good < 1.0
    })
    .await;
}

async fn a_vendors_address_can_be_changed_while_running(topology: Topology) {
    let mut world = World::start(topology, json!({})).await;
    let elsewhere = signalbox_vendorsim::Simulator::builder().bind("127.0.0.1:0").await.unwrap();
    world.reconfigure(json!({"vendors": {"openai": {"base_url": elsewhere.base_url("openai")}}}));
    eventually("calls go to the new address", || async {
        ask(&mut world.client(), Mode::Unary, request("openai/gpt-6-luna", "Hello?")).await.unwrap();
        elsewhere.request_count() > 0
    })
    .await;
}

async fn requests_are_counted(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    for mode in Mode::ALL {
        ask(&mut client, mode, request("openai/gpt-6-luna", "Hello?")).await.unwrap();
    }
    ask(&mut client, Mode::Unary, request("local/made-up-by-a-caller", "Hello?")).await.unwrap();
    ask(&mut client, Mode::Unary, request("nonsense", "Hello?")).await.unwrap_err();
    let metrics = world.signalbox.metrics().await;
    let count = |name, labels| metrics.sum(name, labels) as u64;
    assert_eq!(count("signalbox_requests_total", &[("method", "Generate"), ("outcome", "ok")]), 2);
    assert_eq!(count("signalbox_requests_total", &[("method", "StreamGenerate"), ("outcome", "ok")]), 1);
    assert_eq!(count("signalbox_requests_total", &[("outcome", "UNKNOWN_MODEL")]), 1);
    assert_eq!(count("signalbox_vendor_calls_total", &[("vendor", "openai"), ("outcome", "ok")]), 2);
    assert!(count("signalbox_cost_nano_eur_total", &[("model", "gpt-6-luna")]) > 0);
    assert!(!metrics.text().contains("made-up-by-a-caller"), "callers do not make series");
}

both_topologies!(
    it_is_healthy_and_explains_itself,
    told_to_stop_it_finishes_what_it_began_and_takes_nothing_new,
    a_watcher_hears_of_the_drain_and_does_not_hold_it_up,
    a_killed_process_serves_again_once_restarted,
    a_change_of_the_file_takes_effect_and_a_bad_one_changes_nothing,
    a_vendors_address_can_be_changed_while_running,
    requests_are_counted,
);

#[tokio::test]
async fn a_router_is_ready_only_while_an_adapter_is_there() {
    let mut world = World::start(Topology::Remote, json!({"failover": {"adapter_patience": "100ms"}})).await;
    for adapter in &mut world.signalbox.adapters {
        adapter.kill().await;
    }
    let router = &world.signalbox.router;
    eventually("the router says that it misses an adapter", || async {
        router.ready().await.is_err_and(|missing| missing.contains("adapter"))
    })
    .await;
    let mut health = HealthClient::new(router.channel());
    let check = Request::new(HealthCheckRequest { service: String::new() });
    assert_eq!(health.check(check).await.unwrap().into_inner().status(), ServingStatus::NotServing);
    let status = ask(&mut world.client(), Mode::Unary, request("fast", "Hello?")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    world.signalbox.adapters[0].restart().await;
    eventually("the router is ready again", || async { world.signalbox.router.ready().await.is_ok() }).await;
    ask(&mut world.client(), Mode::Unary, request("fast", "Hello?")).await.unwrap();
    let told = |what| world.signalbox.router.log().matches(what).count();
    eventually("that it is back is logged", || async { told("an adapter answers") == 2 }).await;
    assert_eq!(told("no adapter answers"), 1);
}

#[tokio::test]
async fn logs_in_json_say_who_failed_and_no_field_twice() {
    let world = World::start(Topology::AllInOne, json!({"telemetry": {"log_format": "json"}})).await;
    world.fault(Vendor::Openai, "status=500");
    ask(&mut world.client(), Mode::Unary, request("fast", "Hello?")).await.unwrap();
    let failed = eventually_some("the failed call is logged", || async {
        let log = world.signalbox.log();
        log.lines().find(|line| line.contains("vendor call failed")).map(str::to_owned)
    })
    .await;
    assert_eq!(failed.matches("\"target\"").count(), 1, "{failed}");
    let failed: Value = serde_json::from_str(&failed).unwrap();
    assert_eq!(failed["vendor"], "openai");
    assert!(failed["model"].is_string(), "{failed}");
    let log = world.signalbox.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["roles"] == "router,adapter,ingest,budget,cache,batch"), "{log}");
    assert!(!log.contains('\u{1b}'), "no colours in a pipe: {log}");
}

#[tokio::test]
async fn a_router_that_is_told_of_no_adapter_says_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = tokio::process::Command::new(built("signalbox"));
    serve.current_dir(folder.path());
    serve.args(["serve", "--role", "router", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    let output = serve.env_clear().output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{told}");
    assert!(told.contains("peers.adapter"), "{told}");
}

#[tokio::test]
async fn a_vendor_that_is_simulated_from_now_on_is_never_called_for_real() {
    let mut world = World::start(Topology::AllInOne, json!({})).await;
    world.reconfigure(json!({"vendors": {"openai": {"simulate": true}}}));
    eventually("the answer says that it is simulated", || async {
        let answer = ask(&mut world.client(), Mode::Unary, request("openai/gpt-6-luna", "Hello?")).await;
        answer.unwrap().route.simulated
    })
    .await;
    let before = world.calls(Vendor::Openai).len();
    ask(&mut world.client(), Mode::Unary, request("openai/gpt-6-luna", "Hello?")).await.unwrap();
    assert_eq!(world.calls(Vendor::Openai).len(), before);
}

#[tokio::test]
async fn losing_one_of_two_adapters_costs_no_unary_call() {
    let mut world = World::start(Topology::Remote, json!({})).await;
    let mut victim = world.signalbox.adapters.remove(0);
    under_traffic(&world, &[Mode::Unary], async { victim.kill().await }).await;
}

#[tokio::test]
async fn draining_one_of_two_adapters_costs_no_call_and_no_stream() {
    let mut world = World::start(Topology::Remote, json!({})).await;
    let mut leaving = world.signalbox.adapters.remove(0);
    let drained = async {
        leaving.terminate();
        assert!(leaving.ended().await.success());
    };
    under_traffic(&world, &Mode::ALL, drained).await;
}

#[tokio::test]
async fn an_adapter_that_stands_still_holds_no_call_for_long_and_is_then_left_alone() {
    let world = World::start(Topology::Remote, json!({})).await;
    let client = world.client();
    let call = |within: Duration| {
        let mut client = client.clone();
        let mut asked = Request::new(request("openai/gpt-6-luna", "Hello?"));
        asked.set_timeout(within);
        async move { client.generate(asked).await }
    };
    world.signalbox.adapters[0].freeze();
    // Those that it holds are moved to the other one, long before their deadline.
    let began = Instant::now();
    for answer in join_all((0..32).map(|_| call(Duration::from_secs(60)))).await {
        answer.unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for n in 0..50 {
        call(Duration::from_secs(3)).await.unwrap_or_else(|status| panic!("call {n}: {status:?}"));
    }
    world.signalbox.adapters[0].thaw();
    eventually("it serves again", || async {
        let calls = world.signalbox.adapters[0].metrics().await.sum("signalbox_vendor_calls_total", &[]);
        call(Duration::from_secs(3)).await.unwrap();
        world.signalbox.adapters[0].metrics().await.sum("signalbox_vendor_calls_total", &[]) > calls
    })
    .await;
}

#[tokio::test]
async fn calls_given_up_are_enough_to_leave_an_adapter_alone_that_stands_still() {
    let world = World::start(Topology::Remote, json!({})).await;
    world.signalbox.adapters[0].freeze();
    let (client, in_a_row) = (world.client(), Cell::new(0));
    eventually("calls with a short deadline succeed one after the other", || async {
        let mut asked = Request::new(request("openai/gpt-6-luna", "Hello?"));
        asked.set_timeout(Duration::from_secs(1));
        let good = client.clone().generate(asked).await.is_ok();
        in_a_row.set(if good { in_a_row.get() + 1 } else { 0 });
        in_a_row.get() == 30
    })
    .await;
}

/// Does something in the midst of calls, none of which may fail.
async fn under_traffic(world: &World, modes: &[Mode], event: impl Future<Output = ()>) {
    const CALLS: usize = 300;
    world.fault(Vendor::Openai, "trickle=2");
    let client = world.client();
    let call = |n: usize| {
        let (mut client, mode) = (client.clone(), modes[n % modes.len()]);
        async move { ask(&mut client, mode, request("openai/gpt-6-luna", "Hello?")).await }
    };
    let (third, reached) = oneshot::channel();
    let traffic = async {
        let mut third = Some(third);
        let mut answers = stream::iter(0..CALLS).map(call).buffer_unordered(16);
        for done in 0..CALLS {
            if done == CALLS / 3 {
                third.take().unwrap().send(()).unwrap();
            }
            let answer = answers.next().await.unwrap();
            answer.unwrap_or_else(|status| panic!("call {done}: {status:?}"));
        }
    };
    let event = async {
        reached.await.unwrap();
        event.await;
    };
    tokio::join!(traffic, event);
}

#[tokio::test]
async fn a_configuration_that_makes_no_sense_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("absurd.yaml");
    std::fs::write(&file, "server:\n  max_message_bytes: -1\nfailover: {max_switches: 9000}\n").unwrap();
    let mut serve = tokio::process::Command::new(built("signalbox"));
    let output = serve.arg("serve").arg("--config").arg(&file).output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{told}");
    for part in ["absurd.yaml:2:", "server.max_message_bytes", "absurd.yaml:3:", "failover.max_switches"] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
}
