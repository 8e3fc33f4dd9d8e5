//! What somebody does who has just started it.

use super::system::{System, run};
use signalbox_api::v1::{
    CacheEffect, GenerateRequest, GetRequestRequest, InvokeModelRequest, Sampling, cache_effect,
    provider_service_client::ProviderServiceClient, usage_service_client::UsageServiceClient,
};
use signalbox_kit::{Hop, config::MtlsConfig, hop, tls::Mtls};
use signalbox_local::{Kind, Part, Purpose, processes};
use signalbox_testkit::{
    Key,
    ask::{Mode, request},
    eventually, eventually_some,
    refusal::Refusal,
};
use std::sync::Arc;
use tokio::process::Command;
use tonic::Code;

pub(super) async fn up_again_says_that_it_is_up(system: &System) {
    let before = processes(system.stack.folder());
    let again = system.local(&["up"]).await;
    assert!(again.good && again.says.starts_with("It is up."), "{again:?}");
    let elsewhere = system.local(&["up", "--base-port", "31000"]).await;
    assert!(
        elsewhere.good && elsewhere.says.contains(", not at 31000: a system keeps the ports"),
        "{elsewhere:?}"
    );
    assert_eq!(processes(system.stack.folder()), before);
    let status = system.local(&["status"]).await;
    assert!(status.good && !status.says.contains("not ready"), "{status:?}");
}

pub(super) async fn ports_that_are_taken_are_told_by_name_before_anything_starts(system: &System) {
    let folder = system.stack.folder().path().with_file_name("second");
    let router = Part { kind: Kind::Router, number: 1 };
    let base = system.stack.ports().of(router, Purpose::Clients).to_string();
    let second = super::system::local(&folder, &["up", "--base-port", &base]).await;
    assert!(!second.good && second.errors.contains(&format!("{base} (router-1, clients)")), "{second:?}");
    assert!(second.errors.contains("(nats-3, clients)"), "{second:?}");
    assert!(!folder.exists());
}

pub(super) async fn the_commands_that_it_prints_work_when_pasted(system: &System) {
    let (_, commands) = system.banner.split_once("Try it").unwrap();
    let commands: Vec<&str> = commands.lines().map(str::trim).filter(|line| line.starts_with(". ")).collect();
    let [call, stream, usage] = commands[..] else { panic!("{commands:?}") };
    let paste = |command: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", command]);
        run(shell)
    };
    let said = paste(call).await;
    assert!(said.good && said.says.contains("Simulated answer"), "{call}: {said:?}");
    let said = paste(stream).await;
    assert!(said.good && said.says.contains("Simulated answer"), "{stream}: {said:?}");
    assert!(said.errors.contains("answered by"), "{said:?}");
    eventually("the report has both", || async {
        let said = paste(usage).await;
        assert!(said.good, "{usage}: {said:?}");
        let requests =
            said.says.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)?.parse::<u32>().ok());
        requests.sum::<u32>() == 2
    })
    .await;
}

/// A request of its own, answered the same whenever it is asked: one for the cache.
fn steady(id: &str, text: &str) -> GenerateRequest {
    let sampling = Some(Sampling { temperature: Some(0.0), ..Sampling::default() });
    GenerateRequest { request_id: id.to_owned(), sampling, ..request("fast", text) }
}

pub(super) async fn all_that_may_become_of_a_request_has_its_row(system: &System) {
    let caller = system.application("newsroom").await;
    let called = caller.ask(Mode::Unary, &steady("called", "What is the news?")).await.unwrap();
    assert_ne!(cache_outcome(called.route.cache), cache_effect::Outcome::ExactHit);
    let streamed = caller.ask(Mode::Stream, &steady("streamed", "And the weather?")).await.unwrap();
    assert!(streamed.usage.output_tokens > 0);
    // It is kept once its caller has been answered.
    let hit = eventually_some("the same again comes from the cache", || async {
        let answer = caller.ask(Mode::Unary, &steady("hit", "What is the news?")).await.unwrap();
        (cache_outcome(answer.route.cache.clone()) == cache_effect::Outcome::ExactHit).then_some(answer.route)
    })
    .await;
    assert_eq!(hit.attempts, []);

    let poor = system.application("poor").await;
    system.limit("poor", 1).await;
    // Named, so that no model stands in that costs nothing.
    let dear =
        GenerateRequest { model: "openai/gpt-6-luna".to_owned(), ..steady("refused", "What is the news?") };
    let refused = poor.ask(Mode::Unary, &dear).await.unwrap_err();
    assert_eq!(Refusal::from(refused).reason, "BUDGET_EXHAUSTED");

    let mut usage = UsageServiceClient::new(system.operator().way(Kind::Ingest).unwrap());
    for (tenant, id, row) in [
        ("newsroom", "called", "OUTCOME_SUCCEEDED||OUTCOME_MISS"),
        ("newsroom", "streamed", "OUTCOME_SUCCEEDED||OUTCOME_MISS"),
        ("newsroom", "hit", "OUTCOME_SUCCEEDED||OUTCOME_EXACT_HIT"),
        ("poor", "refused", "OUTCOME_FAILED|BUDGET_EXHAUSTED|"),
    ] {
        let query = format!(
            "SELECT outcome || '|' || error_reason || '|' || cache_outcome FROM usage_events \
             WHERE tenant_id = '{tenant}' AND request_id = '{id}' ORDER BY ended_at DESC LIMIT 1"
        );
        eventually("its row is there", || async { !system.operator().sql(&query).await.unwrap().is_empty() })
            .await;
        let found = system.operator().sql(&query).await.unwrap().concat();
        assert!(found.starts_with(row), "{id}: {found}");
        let asked = GetRequestRequest { request_id: id.to_owned(), tenant_id: tenant.to_owned() };
        let told = usage.get_request(asked).await.unwrap().into_inner().event.unwrap();
        assert_eq!((&*told.request_id, &*told.tenant_id), (id, tenant));
        assert_eq!(told.error_reason.is_empty(), id != "refused", "{told:?}");
    }
}

fn cache_outcome(effect: Option<CacheEffect>) -> cache_effect::Outcome {
    effect.unwrap_or_default().outcome()
}

/// An adapter spends money for whoever it serves, and so it serves routers and caches alone.
pub(super) async fn only_who_may_call_an_adapter_can(system: &System) {
    let key = system.operator().key("curious").await.unwrap();
    let invoke = async |hop: Hop| {
        let mut adapter = ProviderServiceClient::with_interceptor(hop, Key::new(&key));
        let status = adapter.invoke_model(InvokeModelRequest::default()).await.unwrap_err();
        (status.code(), status.message().to_owned())
    };
    let adapter = Part { kind: Kind::Adapter, number: 1 };
    let at = |purpose| system.stack.ports().address(adapter, purpose);
    // A key is none for this, and there is no way past TLS.
    let outside = hop::remote(&[format!("http://{}", at(Purpose::Clients))]).unwrap();
    assert_eq!(invoke(outside).await.0, Code::PermissionDenied);
    let in_the_clear = hop::remote(&[format!("http://{}", at(Purpose::Internal))]).unwrap();
    assert_eq!(invoke(in_the_clear).await.0, Code::Unavailable);
    for (role, code) in [("router", Code::InvalidArgument), ("ingest", Code::PermissionDenied)] {
        let secured =
            hop::secured(&[format!("https://{}", at(Purpose::Internal))], &identity(system, role), "adapter");
        let (found, message) = invoke(secured.unwrap()).await;
        assert_eq!(found, code, "{role}: {message}");
    }
}

/// As whom a process of a role is known to the others.
fn identity(system: &System, role: &str) -> Arc<Mtls> {
    let file = |name: &str| system.stack.folder().certificates().join(format!("current/{role}-1/{name}"));
    let config = MtlsConfig {
        certificate_file: file("tls.crt"),
        key_file: file("tls.key"),
        ca_file: file("ca.crt"),
        trust_domain: "signalbox".to_owned(),
    };
    Mtls::load(&config, &[role]).unwrap()
}
