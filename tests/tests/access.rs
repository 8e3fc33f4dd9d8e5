//! Who may call, and what each may do.

use serde_json::{Value, json};
use signalbox_api::v1::{
    self, Tenant, admin_service_client::AdminServiceClient, api_key::Scope,
    provider_service_client::ProviderServiceClient, router_service_client::RouterServiceClient,
    usage_service_client::UsageServiceClient,
};
use signalbox_testkit::{
    Fleet, FleetSize, Options, Signalbox, Topology, World, ask, at_simulator, built, eventually,
    eventually_some, refusal::Refusal,
};
use signalbox_vendorsim::Simulator;
use std::time::{Duration, Instant};
use tonic::{Code, Status};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

const MODEL: &str = "openai/gpt-6-luna";
/// Within so long a key that was revoked is refused everywhere, and a first key is needed everywhere.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

fn tenant(id: &str) -> Tenant {
    Tenant { tenant_id: id.to_owned(), ..Tenant::default() }
}

/// Asks for an answer, for a tenant where one is named.
async fn generate(process: &Signalbox, key: &str, tenant_id: &str) -> Result<(), Refusal> {
    let request =
        v1::GenerateRequest { tenant_id: tenant_id.to_owned(), ..ask::request(MODEL, "Say hello.") };
    let answer = RouterServiceClient::new(process.keyed(key)).generate(request).await;
    answer.map(|_| ()).map_err(Refusal::from)
}

/// Waits until nobody is answered without a key.
async fn needs_a_key(process: &Signalbox) {
    eventually("a key is needed", || async {
        matches!(generate(process, "", "").await, Err(refusal) if (refusal.code, refusal.reason) == NOBODY)
    })
    .await;
}

/// The code of a refusal and why.
fn refused<T>(answer: Result<T, impl Into<Refusal>>) -> (Code, &'static str) {
    match answer {
        Ok(_) => panic!("it was answered"),
        Err(refusal) => {
            let refusal: Refusal = refusal.into();
            (refusal.code, refusal.reason)
        }
    }
}

const NOBODY: (Code, &str) = (Code::Unauthenticated, "UNAUTHENTICATED");
const FORBIDDEN: (Code, &str) = (Code::PermissionDenied, "PERMISSION_DENIED");

/// One process, and two tenants with a key each, made by an operator.
struct Newsroom {
    world: World,
    admin: String,
    acme: String,
    other: String,
}

impl Newsroom {
    async fn open(config: Value) -> Self {
        let world = World::start(Topology::AllInOne, config).await;
        let process = &world.signalbox.router;
        for id in ["ops", "acme", "other"] {
            process.add_tenant("", tenant(id)).await;
        }
        let (_, admin) = process.make_key("", "ops", Scope::Admin).await;
        let (_, acme) = process.make_key(&admin, "acme", Scope::Tenant).await;
        let (_, other) = process.make_key(&admin, "other", Scope::Tenant).await;
        needs_a_key(process).await;
        Self { world, admin, acme, other }
    }

    fn process(&self) -> &Signalbox {
        &self.world.signalbox.router
    }
}

#[tokio::test]
async fn without_a_key_everybody_may_call_and_from_the_first_one_on_nobody_may_without() {
    let world = World::start(Topology::AllInOne, json!({})).await;
    let process = &world.signalbox.router;
    generate(process, "", "acme").await.unwrap();
    assert!(process.log().contains("callers need no key before there is one"), "{}", process.log());

    process.add_tenant("", tenant("acme")).await;
    let (_, key) = process.make_key("", "acme", Scope::Tenant).await;
    let made = Instant::now();
    needs_a_key(process).await;
    assert!(made.elapsed() < HEARD_WITHIN, "{:?}", made.elapsed());

    assert_eq!(refused(generate(process, "", "acme").await), NOBODY);
    let mut wrong = key.clone();
    wrong.pop();
    for wrong in [wrong.as_str(), "sbx_", "nonsense", &format!("{key}x")] {
        assert_eq!(refused(generate(process, wrong, "").await), NOBODY, "{wrong}");
    }
    generate(process, &key, "").await.unwrap();
    generate(process, &key, "acme").await.unwrap();
    // Whether it is well, nobody needs a key to ask.
    HealthClient::new(process.channel()).check(HealthCheckRequest::default()).await.unwrap();
}

#[tokio::test]
async fn a_tenants_key_is_for_its_own_tenant() {
    let room = Newsroom::open(json!({"usage": {"ingest": {"batch_interval": "50ms"}}})).await;
    let process = room.process();
    assert_eq!(refused(generate(process, &room.acme, "other").await), FORBIDDEN);
    generate(process, &room.acme, "").await.unwrap();
    generate(process, &room.other, "").await.unwrap();

    let all = UsageServiceClient::new(process.keyed(&room.admin));
    let others = eventually_some("the other tenant's request is stored", || {
        let mut all = all.clone();
        async move {
            let seen = ids(all.list_requests(v1::ListRequestsRequest::default()).await);
            seen.into_iter().find_map(|(tenant, id)| (tenant == "other").then_some(id))
        }
    })
    .await;

    let mut own = UsageServiceClient::new(process.keyed(&room.acme));
    let seen = ids(own.list_requests(v1::ListRequestsRequest::default()).await);
    assert!(!seen.is_empty() && seen.iter().all(|(tenant, _)| tenant == "acme"), "{seen:?}");
    let filter = Some(v1::UsageFilter { tenant_ids: vec!["other".into()], ..Default::default() });
    let asked = v1::ListRequestsRequest { filter: filter.clone(), ..Default::default() };
    assert_eq!(refused(own.list_requests(asked).await), FORBIDDEN);
    let start_time = Some(prost_types::Timestamp { seconds: 1_700_000_000, nanos: 0 });
    let query = v1::QueryUsageRequest { start_time, filter: filter.clone(), ..Default::default() };
    assert_eq!(refused(own.query_usage(query).await), FORBIDDEN);
    assert_eq!(refused(own.stream_usage(v1::StreamUsageRequest { filter }).await), FORBIDDEN);
    let get = |tenant: &str| v1::GetRequestRequest { request_id: others.clone(), tenant_id: tenant.into() };
    assert_eq!(refused(own.get_request(get("other")).await), FORBIDDEN);
    assert_eq!(refused(own.get_request(get("")).await).0, Code::NotFound, "it is another tenant's");
    let export = v1::ExportUsageRequest { tenant_id: "other".into(), ..Default::default() };
    assert_eq!(refused(own.export_usage(export).await), FORBIDDEN);
    let overage = v1::GetOverageRequest { tenant_id: "other".into(), ..Default::default() };
    assert_eq!(refused(own.get_overage(overage).await), FORBIDDEN);
}

/// Tenant and id of each request of a page.
fn ids(page: Result<tonic::Response<v1::ListRequestsResponse>, Status>) -> Vec<(String, String)> {
    let events = page.unwrap().into_inner().events.into_iter();
    events.map(|event| (event.tenant_id, event.request_id)).collect()
}

#[tokio::test]
async fn a_key_that_may_read_calls_no_model() {
    let room = Newsroom::open(json!({})).await;
    let process = room.process();
    let (_, reader) = process.make_key(&room.admin, "acme", Scope::ReadOnly).await;
    assert_eq!(refused(generate(process, &reader, "").await), FORBIDDEN);
    let mut router = RouterServiceClient::new(process.keyed(&reader));
    let stream = v1::StreamGenerateRequest { request: Some(ask::request(MODEL, "Hi")) };
    assert_eq!(refused(router.stream_generate(stream).await), FORBIDDEN);
    let embed = v1::EmbedRequest { inputs: vec!["a".into()], ..Default::default() };
    assert_eq!(refused(router.embed(embed).await), FORBIDDEN);
    router.list_models(v1::ListModelsRequest::default()).await.unwrap();
    let estimate = v1::EstimateCostRequest { request: Some(ask::request(MODEL, "Hi")) };
    router.estimate_cost(estimate).await.unwrap();
    let mut usage = UsageServiceClient::new(process.keyed(&reader));
    usage.list_requests(v1::ListRequestsRequest::default()).await.unwrap();
}

#[tokio::test]
async fn an_admin_key_is_for_every_tenant_and_for_what_operators_do() {
    let room = Newsroom::open(json!({})).await;
    let process = room.process();
    generate(process, &room.admin, "acme").await.unwrap();
    generate(process, &room.admin, "other").await.unwrap();
    let status = v1::GetConfigStatusRequest {};
    let mut operator = AdminServiceClient::new(process.keyed(&room.admin));
    operator.get_config_status(status).await.unwrap();
    let mut own = AdminServiceClient::new(process.keyed(&room.acme));
    assert_eq!(refused(own.get_config_status(status).await), FORBIDDEN);
    assert_eq!(refused(own.reload_config(v1::ReloadConfigRequest {}).await), FORBIDDEN);
    let mut budgets = process.budgets(&room.acme);
    let made = v1::CreateTenantRequest { tenant: Some(tenant("mine")) };
    assert_eq!(refused(budgets.create_tenant(made).await), FORBIDDEN);
    let get = |id: &str| v1::GetTenantRequest { tenant_id: id.to_owned() };
    budgets.get_tenant(get("acme")).await.unwrap();
    assert_eq!(refused(budgets.get_tenant(get("other")).await), FORBIDDEN);
    // What roles say to each other is not for operators either.
    let end = v1::EndReplicaRequest { replica_id: "r".to_owned() };
    assert_eq!(refused(process.budgets(&room.admin).end_replica(end).await), FORBIDDEN);
}

#[tokio::test]
async fn reflection_can_be_shut() {
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    };
    let world = World::start(Topology::AllInOne, json!({"access": {"reflection": false}})).await;
    let questions = futures_util::stream::iter([ServerReflectionRequest::default()]);
    let mut client = ServerReflectionClient::new(world.signalbox.router.channel());
    let status = client.server_reflection_info(questions).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}

#[tokio::test]
async fn the_roles_of_a_fleet_know_each_other_and_a_revoked_key_opens_nothing_within_two_seconds() {
    let vendors = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
    let mut config = at_simulator(&vendors);
    signalbox_testkit::merge(&mut config, json!({"telemetry": {"log_level": "debug"}}));
    let fleet = Fleet::start(FleetSize { routers: 2, budgets: 2 }, &config).await;
    let (operator, other) = (&fleet.budgets[0], &fleet.budgets[1]);
    for id in ["ops", "acme"] {
        operator.add_tenant(Fleet::ADMIN_KEY, tenant(id)).await;
    }
    let (_, admin) = operator.make_key(Fleet::ADMIN_KEY, "ops", Scope::Admin).await;
    let (key_id, key) = other.make_key(&admin, "acme", Scope::Tenant).await;

    for router in &fleet.routers {
        assert_eq!(refused(generate(router, "", "").await), NOBODY);
        generate(router, &key, "").await.unwrap();
        generate(router, &admin, "acme").await.unwrap();
    }
    // Vendors are reached through routers only, whoever asks.
    for key in [&key, &admin] {
        let mut adapter = ProviderServiceClient::new(fleet.adapter.keyed(key));
        assert_eq!(refused(adapter.count_tokens(v1::CountTokensRequest::default()).await), FORBIDDEN);
    }
    let mut adapter = ProviderServiceClient::new(fleet.adapter.channel());
    assert_eq!(refused(adapter.count_tokens(v1::CountTokensRequest::default()).await), NOBODY);

    let revoke = v1::RevokeApiKeyRequest { tenant_id: "acme".into(), key_id, reason: "it was lost".into() };
    operator.budgets(&admin).revoke_api_key(revoke).await.unwrap();
    let revoked = Instant::now();
    for router in &fleet.routers {
        eventually("the key is refused", || async {
            matches!(generate(router, &key, "").await, Err(refusal) if (refusal.code, refusal.reason) == NOBODY)
        })
        .await;
        assert!(revoked.elapsed() < HEARD_WITHIN, "{:?}", revoked.elapsed());
    }

    let log = fleet.log();
    for secret in [key.as_str(), &admin, Fleet::ADMIN_KEY] {
        let hidden = secret.rsplit('_').next().unwrap_or(secret);
        assert!(!log.contains(hidden), "a key is in a log");
    }
}

/// What `signalbox serve` says before it ends.
async fn complaint(listen: &str, env: &[(&str, &str)]) -> String {
    let data = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.args(["serve", "--listen", listen, "--metrics-listen", "127.0.0.1:0"]);
    command.env_clear().env("SIGNALBOX_DATA_DIR", data.path()).envs(env.iter().copied()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn it_listens_openly_only_where_callers_are_authenticated() {
    let said = complaint("0.0.0.0:0", &[]).await;
    for way in ["loopback address", "SIGNALBOX_ADMIN_KEY", "signalbox key create", "--insecure-listen"] {
        assert!(said.contains(way), "{said}");
    }
    let env = |key: &str| vec![("SIGNALBOX_ADMIN_KEY".to_owned(), key.to_owned())];
    let listen = "0.0.0.0:0".parse().unwrap();
    let options = Options { env: env(Fleet::ADMIN_KEY), listen, ..Options::default() };
    let process = Signalbox::serve(options).await;
    assert_eq!(refused(generate(&process, "", "").await), NOBODY);
    generate(&process, Fleet::ADMIN_KEY, "").await.unwrap();
}

#[tokio::test]
async fn with_a_key_in_its_store_it_listens_openly() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("signalbox.yaml");
    let store = json!({"budgets": {"store": {"sqlite": {"path": folder.path().join("budgets.db")}}}});
    std::fs::write(&config, store.to_string()).unwrap();
    let options = Options { config: Some(config), ..Options::default() };
    let mut first = Signalbox::serve(options.clone()).await;
    first.add_tenant("", tenant("acme")).await;
    let (_, key) = first.make_key("", "acme", Scope::Tenant).await;
    first.terminate();
    first.ended().await;
    let open = Signalbox::serve(Options { listen: "0.0.0.0:0".parse().unwrap(), ..options }).await;
    assert_eq!(refused(generate(&open, "", "").await), NOBODY);
    generate(&open, &key, "").await.unwrap();
}

#[tokio::test]
async fn a_key_of_the_deployment_that_can_be_guessed_is_refused_and_not_repeated() {
    let said = complaint("127.0.0.1:0", &[("SIGNALBOX_ADMIN_KEY", "hunter2")]).await;
    assert!(said.contains("SIGNALBOX_ADMIN_KEY: has 7 characters; it needs at least 32"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn whoever_guesses_keys_waits_and_others_do_not() {
    let room = Newsroom::open(json!({})).await;
    let process = room.process();
    generate(process, &room.acme, "").await.unwrap();
    let guess = |number: usize| async move {
        let key = format!("sbx_k{number:011}_0123456789abcdefghijklmnopqrstuvwxyz0123456789a");
        refused(generate(process, &key, "").await)
    };
    futures_util::future::join_all((0..16).map(guess)).await;
    for number in 16..32 {
        // It waits for its turn, or there are too many already.
        match tokio::time::timeout(Duration::from_millis(50), guess(number)).await {
            Err(_) | Ok((Code::ResourceExhausted, "RATE_LIMITED")) => {}
            Ok(other) => panic!("guess {number} was looked at: {other:?}"),
        }
    }
    // A key that is known is served meanwhile, from the same address.
    let began = Instant::now();
    generate(process, &room.acme, "").await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

/// What a command prints, and whether it did what was asked.
async fn command(process: &Signalbox, key: &str, words: &[&str]) -> (bool, String, String) {
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.args(words).env_clear().env("SIGNALBOX_SERVER", process.address().to_string());
    let output = command.env("SIGNALBOX_API_KEY", key).kill_on_drop(true).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// What a command prints that did what was asked.
async fn done(process: &Signalbox, key: &str, words: &[&str]) -> String {
    let (good, said, problem) = command(process, key, words).await;
    assert!(good, "{words:?}: {problem}");
    said
}

#[tokio::test]
async fn operators_manage_tenants_keys_and_budgets_by_commands() {
    let world =
        World::start(Topology::AllInOne, json!({"usage": {"ingest": {"batch_interval": "50ms"}}})).await;
    let process = &world.signalbox.router;
    done(process, "", &["tenant", "create", "acme", "--name", "Acme", "--time-zone", "Europe/Rome"]).await;
    let admin = ["key", "create", "--tenant", "acme", "--scope", "admin"];
    let (_, admin, aside) = command(process, "", &admin).await;
    let admin = admin.trim_end();
    assert!(admin.starts_with("sbx_") && !admin.contains(char::is_whitespace), "the key alone: {admin}");
    assert!(aside.contains("the only time that the key is shown") && !aside.contains(admin), "{aside}");
    needs_a_key(process).await;
    let (good, _, problem) = command(process, "", &["tenant", "list"]).await;
    assert!(
        !good && problem.contains("UNAUTHENTICATED") && problem.contains("SIGNALBOX_API_KEY"),
        "{problem}"
    );

    let budget = ["budget", "create", "--tenant", "acme", "monthly", "--limit", "2.5"];
    let thresholds = ["--at", "75%: notify", "--at", "90% before 50%: tier economy"];
    let shown = done(process, admin, &[&budget[..], &thresholds].concat()).await;
    assert!(shown.contains("limit     €2.50, hard") && shown.ends_with("tier economy\n"), "{shown}");
    let below = ["budget", "set", "--tenant", "acme", "monthly", "--limit", "-1"];
    let (good, _, problem) = command(process, admin, &below).await;
    assert!(!good && problem.contains("`-1` is no amount in euros"), "{problem}");
    done(process, admin, &["budget", "top-up", "--tenant", "acme", "monthly", "0.5", "--id", "paid-1"]).await;
    let again = ["budget", "top-up", "--tenant", "acme", "monthly", "0.5", "--id", "paid-1"];
    let shown = done(process, admin, &again).await;
    assert!(shown.contains("limit     €3.00 (usually €2.50), hard"), "{shown}");

    generate(process, admin, "acme").await.unwrap();
    let settled = ["budget", "ledger", "--tenant", "acme", "--kind", "settle"];
    eventually("what it cost is settled", || async {
        done(process, admin, &settled).await.contains("settle")
    })
    .await;
    let same = done(process, admin, &["reconcile", "--last", "1h"]).await;
    assert!(same.starts_with("no difference\n"), "{same}");
    done(process, admin, &["budget", "forecast", "--tenant", "acme", "monthly"]).await;
    let audit = done(process, admin, &["budget", "audit", "--tenant", "acme"]).await;
    for change in ["CreateTenant", "CreateApiKey", "CreateBudget", "TopUpBudget"] {
        assert!(audit.contains(change), "{audit}");
    }
    done(process, admin, &["tenant", "suspend", "acme"]).await;
    let listed = done(process, admin, &["tenant", "list"]).await;
    assert!(listed.contains("SUSPENDED"), "{listed}");
}
