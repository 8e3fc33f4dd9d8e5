//! Drills: faults made on purpose, and a verdict.

use futures_util::future::join_all;
use prost_types::Duration as ProtoDuration;
use serde_json::{Value, json};
use signalbox_api::v1::{
    self, Drill, ListDrillsRequest, StartDrillRequest, StopDrillRequest, Target, drill::State, fault::Fault,
};
use signalbox_testkit::{
    Options, Signalbox, Topology, World,
    ask::{Answer, Mode, Streamed, ask, open, request},
    both_topologies, built, eventually,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use std::time::Duration;
use tokio::process::Command;
use tonic::Status;

const OPENAI: &str = "openai/gpt-6-luna";
const ANTHROPIC: &str = "anthropic/claude-haiku-5-5";

/// Two vendors in order of preference, and little patience with the first.
fn pair() -> Value {
    json!({
        "drills": {"enabled": true},
        "aliases": {"pair": {"targets": [OPENAI, ANTHROPIC]}},
        "routing": {"order": "listed"},
        "vendors": {"openai": {"timeouts": {"first_byte": "500ms", "idle": "500ms"}}},
        "failover": {"quick_retry_delay": "10ms"},
    })
}

fn millis(millis: u32) -> ProtoDuration {
    let (seconds, nanos) = (i64::from(millis / 1000), (millis % 1000 * 1_000_000).cast_signed());
    ProtoDuration { seconds, nanos }
}

/// A fault for every call to OpenAI, for a minute.
fn drill(fault: Fault) -> Drill {
    Drill {
        target: Some(Target { vendor: "openai".to_owned(), model: String::new() }),
        fault: Some(v1::Fault { fault: Some(fault) }),
        share: 1.0,
        duration: Some(millis(60_000)),
        ..Default::default()
    }
}

async fn start(world: &World, drill: Drill) -> Result<Drill, Status> {
    let request = StartDrillRequest { drill: Some(drill) };
    Ok(world.signalbox.router.admin().start_drill(request).await?.into_inner().drill.unwrap())
}

async fn stop(world: &World, name: &str) -> Drill {
    let request = StopDrillRequest { name: name.to_owned() };
    world.signalbox.router.admin().stop_drill(request).await.unwrap().into_inner().drill.unwrap()
}

async fn list(world: &World) -> Vec<Drill> {
    let request = ListDrillsRequest::default();
    world.signalbox.router.admin().list_drills(request).await.unwrap().into_inner().drills
}

async fn hello(world: &World, mode: Mode) -> Result<Answer, Status> {
    ask(&mut world.client(), mode, request("pair", "Hello?")).await
}

/// So many requests at once, whole ones and streams in turn.
async fn load(world: &World, count: usize) -> Vec<Answer> {
    let asked = (0..count).map(|n| hello(world, Mode::ALL[n % 2]));
    join_all(asked)
        .await
        .into_iter()
        .map(|answer| answer.unwrap_or_else(|status| panic!("{status:?}")))
        .collect()
}

fn added(drill: &Drill) -> Duration {
    let added = drill.verdict.as_ref().unwrap().added_p99.unwrap();
    Duration::try_from(added).unwrap()
}

async fn a_fault_that_can_be_moved_is_seen_by_no_client_and_passes(topology: Topology) {
    let faults = [
        (Fault::Status(500), "VENDOR_ERROR", 2),
        (Fault::Status(429), "VENDOR_RATE_LIMITED", 1),
        (Fault::Status(529), "VENDOR_OVERLOADED", 2),
        (Fault::Status(401), "VENDOR_AUTH", 1),
        (Fault::Delay(millis(10_000)), "VENDOR_TIMEOUT", 1),
        (Fault::CutAfterTokens(0), "", 2),
    ];
    for (fault, reason, calls) in faults {
        // A world for each fault, so that no breaker or hold of one spares the calls of the next.
        let world = World::start(topology, pair()).await;
        let name = start(&world, drill(fault)).await.unwrap().name;
        let answers = load(&world, 8).await;
        let ended = stop(&world, &name).await;
        let verdict = ended.verdict.clone().unwrap();
        assert!(verdict.passed && verdict.client_errors == 0, "{fault:?}: {verdict:?}");
        let hit: Vec<&Answer> = answers.iter().filter(|answer| answer.route.attempts.len() > 1).collect();
        assert_eq!((verdict.requests_hit, verdict.requests_open), (hit.len() as u64, 0), "{fault:?}");
        assert_eq!(verdict.served_by, [(ANTHROPIC.to_owned(), hit.len() as u64)].into(), "{fault:?}");
        assert!(!hit.is_empty() && verdict.calls_hit <= hit.len() as u64 * calls, "{fault:?}: {verdict:?}");
        for failed in hit.iter().flat_map(|answer| answer.route.attempts.split_last().unwrap().1) {
            check_attempt(failed, reason, fault);
        }
        let called = matches!(fault, Fault::CutAfterTokens(_));
        assert_eq!(world.calls(Vendor::Openai).is_empty(), !called, "{fault:?}");
    }
}

/// It says that it was made on purpose, and costs nothing where the vendor was not called.
fn check_attempt(attempt: &v1::Attempt, reason: &str, fault: Fault) {
    assert!(attempt.error_message.contains("by a drill"), "{attempt:?}");
    if !matches!(fault, Fault::CutAfterTokens(_)) {
        let tokens = attempt.usage.unwrap_or_default();
        let cost = attempt.cost.clone().unwrap_or_default();
        assert_eq!((tokens.input_tokens, cost.nano_eur, cost.unknown), (0, 0, false), "{attempt:?}");
        assert_eq!(attempt.error_reason, reason, "{attempt:?}");
    }
}

async fn a_late_vendor_costs_at_most_its_first_byte_timeout(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let name = start(&world, drill(Fault::Delay(millis(10_000)))).await.unwrap().name;
    load(&world, 4).await;
    let ended = stop(&world, &name).await;
    let allowed = Duration::try_from(ended.verdict.clone().unwrap().allowed_p99.unwrap()).unwrap();
    assert!((Duration::from_millis(450)..=allowed).contains(&added(&ended)), "{ended:?}");
}

async fn a_stream_that_breaks_off_under_way_is_seen_and_the_verdict_says_that_it_must_be(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let name = start(&world, drill(Fault::CutAfterTokens(2))).await.unwrap().name;
    let streamed = Streamed::read(open(&mut world.client(), request("pair", "Hello?")).await.unwrap()).await;
    let refusal = Refusal::from(streamed.end.clone().unwrap_err());
    assert_eq!(refusal.reason, "STREAM_TRUNCATED");
    assert!(!streamed.text().is_empty(), "what came before the cut has reached the client");
    hello(&world, Mode::Unary).await.unwrap();
    let verdict = stop(&world, &name).await.verdict.unwrap();
    assert_eq!((verdict.passed, verdict.client_errors, verdict.requests_hit), (false, 1, 2));
    assert!(verdict.summary.contains("cannot be moved"), "{}", verdict.summary);
}

async fn a_trickling_vendor_serves_and_its_lateness_is_measured(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let usual = hello(&world, Mode::Stream).await.unwrap();
    let name = start(&world, drill(Fault::Trickle(millis(50)))).await.unwrap().name;
    let slow = hello(&world, Mode::Stream).await.unwrap();
    let ended = stop(&world, &name).await;
    assert_eq!((slow.text(), slow.attempts()), (usual.text(), vec!["openai".to_owned()]));
    assert!(added(&ended) > Duration::from_millis(90), "{ended:?}");
    assert_eq!(ended.verdict.unwrap().served_by, [(OPENAI.to_owned(), 1)].into());
}

async fn nothing_is_drilled_unless_the_configuration_says_so(topology: Topology) {
    let mut config = pair();
    config["drills"] = json!({});
    let world = World::start(topology, config).await;
    let refused = start(&world, drill(Fault::Status(500))).await.unwrap_err();
    assert!(refused.message().contains("drills.enabled: true"), "{refused:?}");
    assert_eq!(hello(&world, Mode::Unary).await.unwrap().attempts(), ["openai"]);
}

async fn a_drill_ends_by_itself_and_traffic_returns(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let brief = Drill { duration: Some(millis(700)), ..drill(Fault::Status(500)) };
    let name = start(&world, brief).await.unwrap().name;
    assert_eq!(list(&world).await[0].state(), State::Running);
    assert!(world.signalbox.metrics().await.sum("signalbox_drill_running", &[]) > 0.5);
    assert_eq!(hello(&world, Mode::Unary).await.unwrap().route.vendor, "anthropic");
    eventually("the drill is over", || async { list(&world).await[0].state() == State::Ended }).await;
    assert_eq!(hello(&world, Mode::Unary).await.unwrap().attempts(), ["openai"]);
    let metrics = world.signalbox.metrics().await;
    assert!(metrics.sum("signalbox_drill_running", &[]) < 0.5);
    let hit = metrics.sum("signalbox_drill_calls_hit_total", &[("vendor", "openai")]);
    assert!((hit - 2.0).abs() < f64::EPSILON, "{hit}");
    let log = world.signalbox.router.log();
    assert!(log.contains(&format!("drill started drill=\"{name}\"")), "{log}");
    assert!(log.contains("drill ended: its time was over"), "{log}");
}

async fn only_the_tenant_and_the_share_that_were_named_are_hit(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let scope = Drill { tenant_id: "sports".to_owned(), ..drill(Fault::Status(500)) };
    let first = start(&world, scope).await.unwrap().name;
    let of = |tenant: &str| v1::GenerateRequest { tenant_id: tenant.to_owned(), ..request("pair", "Hello?") };
    let mut client = world.operator();
    let spared = ask(&mut client, Mode::Unary, of("politics")).await.unwrap();
    assert_eq!(spared.attempts(), ["openai"]);
    let hit = ask(&mut client, Mode::Unary, of("sports")).await.unwrap();
    assert_eq!(hit.route.vendor, "anthropic");
    assert_eq!(stop(&world, &first).await.verdict.unwrap().requests_hit, 1);

    // A fault that nobody notices, so that no breaker spares calls.
    let share = Drill { share: 0.5, ..drill(Fault::Delay(millis(1))) };
    let second = start(&world, share).await.unwrap().name;
    load(&world, 60).await;
    let hit = stop(&world, &second).await.verdict.unwrap().calls_hit;
    assert!((12..=48).contains(&hit), "{hit} of 60");
    assert_eq!(
        list(&world).await.iter().map(|drill| drill.name.as_str()).collect::<Vec<_>>(),
        [second, first]
    );
}

async fn bad_input_is_refused_with_its_field(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let nobody = Some(Target { vendor: "opnai".to_owned(), model: String::new() });
    let cases = [
        (Drill { target: nobody, ..drill(Fault::Status(500)) }, "drill.target.vendor"),
        (drill(Fault::Status(200)), "drill.fault.status"),
        (drill(Fault::Delay(millis(61_000))), "drill.fault.delay"),
        (Drill { share: 0.0, ..drill(Fault::Status(500)) }, "drill.share"),
        (Drill { duration: None, ..drill(Fault::Status(500)) }, "drill.duration"),
    ];
    for (bad, field) in cases {
        let refused = Refusal::from(start(&world, bad).await.unwrap_err());
        assert_eq!(refused.reason, "INVALID_REQUEST");
        assert!(refused.fields.iter().any(|found| found == field), "{field}: {refused:?}");
    }
    start(&world, drill(Fault::Status(500))).await.unwrap();
    let twice = Refusal::from(start(&world, drill(Fault::Status(429))).await.unwrap_err());
    assert!(twice.message.contains("hits the same calls"), "{twice:?}");
}

both_topologies!(
    a_fault_that_can_be_moved_is_seen_by_no_client_and_passes,
    a_late_vendor_costs_at_most_its_first_byte_timeout,
    a_stream_that_breaks_off_under_way_is_seen_and_the_verdict_says_that_it_must_be,
    a_trickling_vendor_serves_and_its_lateness_is_measured,
    nothing_is_drilled_unless_the_configuration_says_so,
    a_drill_ends_by_itself_and_traffic_returns,
    only_the_tenant_and_the_share_that_were_named_are_hit,
    bad_input_is_refused_with_its_field,
);

#[tokio::test]
async fn an_adapter_with_drills_off_ends_the_drill_and_no_client_notices() {
    let mut config = pair();
    config["drills"] = json!({"enabled": false});
    let mut world = World::start(Topology::Remote, config).await;
    let addresses: Vec<String> = world.signalbox.adapters.iter().map(Signalbox::peer).collect();
    let mut config = pair();
    config["peers"] = json!({"adapter": addresses});
    let certificates = world.signalbox.certificates.as_mut().unwrap();
    signalbox_testkit::merge(&mut config, certificates.issue("router"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("router.yaml");
    std::fs::write(&file, config.to_string()).unwrap();
    let (config, internal_listen) = (Some(file), Some(Options::FREE));
    let options = Options { config, roles: "router", internal_listen, ..Options::default() };
    let router = Signalbox::serve(options).await;
    eventually("the router is ready", || async { router.ready().await.is_ok() }).await;

    let request_drill = StartDrillRequest { drill: Some(drill(Fault::Status(500))) };
    router.admin().start_drill(request_drill).await.unwrap();
    let answer = ask(&mut router.client(), Mode::Unary, request("pair", "Hello?")).await.unwrap();
    assert_eq!(answer.route.vendor, "openai");
    let listed = router.admin().list_drills(ListDrillsRequest::default()).await.unwrap().into_inner();
    let ended = &listed.drills[0];
    let verdict = ended.verdict.clone().unwrap();
    assert_eq!((ended.state(), verdict.passed, verdict.client_errors), (State::Ended, false, 0));
    assert!(verdict.summary.contains("an adapter refused"), "{}", verdict.summary);

    let adapter = world.signalbox.adapters[0].admin().list_drills(ListDrillsRequest::default()).await;
    assert!(adapter.unwrap_err().message().contains("role router"));
}

/// `signalbox drill run` beside one request that it hits: its exit code and what it printed.
async fn drill_run(world: &World, fault: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(built("signalbox"));
    command.args(["drill", "run", "--vendor", "openai", "--share", "1", "--max-calls", "1"]);
    command.args(fault).args(["--server", &world.signalbox.router.address().to_string()]);
    let running = tokio::spawn(async move { command.output().await.unwrap() });
    eventually("the drill runs", || async {
        world.signalbox.metrics().await.sum("signalbox_drill_running", &[]) > 0.5
    })
    .await;
    let _seen = hello(world, Mode::Unary).await;
    let output = running.await.unwrap();
    let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), shown)
}

#[tokio::test]
async fn the_command_waits_for_the_verdict_and_ends_with_it() {
    let world = World::start(Topology::AllInOne, pair()).await;
    let (code, shown) = drill_run(&world, &["--status", "500"]).await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("passed         yes") && shown.contains("no client saw an error"), "{shown}");
    let (code, shown) = drill_run(&world, &["--status", "400"]).await;
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("1 of 1 clients saw an error") && shown.contains("has not passed"), "{shown}");
}
