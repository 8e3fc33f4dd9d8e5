//! Answers that must not be given any more, and who may say so.

use super::{LUNA, answer, hit, met, of, on, on_with};
use serde_json::json;
use signalbox_api::v1::{
    ExplainCacheRequest, GenerateRequest, GetCacheStatsRequest, InvalidateRequest, LookupRequest,
    RenewFlightRequest, ReportHitRequest, Tenant, api_key, cache_effect::Outcome,
    cache_service_client::CacheServiceClient, invalidate_request::Scope, report_hit_request::Verdict,
};
use signalbox_testkit::{
    Fleet, KEYS, Keyed, Options, Signalbox, Topology, World,
    ask::{Mode, request},
    at_simulator, both_topologies, eventually_some, merge, own,
    refusal::Refusal,
};
use signalbox_vendorsim::Simulator;

/// The process that keeps the answers.
fn keeper(world: &World) -> &Signalbox {
    world.signalbox.cache.as_ref().unwrap_or(&world.signalbox.router)
}

pub(super) fn cache(world: &World) -> CacheServiceClient<Keyed> {
    CacheServiceClient::new(keeper(world).channel())
}

fn invalidate(scope: Scope) -> InvalidateRequest {
    InvalidateRequest { tenant_id: own("acme"), scope: Some(scope), wait: true, erase: false }
}

async fn each_scope_takes_what_it_names_and_nothing_else(topology: Topology) {
    let aliases = json!({"mine": {"targets": [LUNA]}});
    let world = World::start(topology, on_with(json!({"aliases": aliases}))).await;
    let base = |text: &str| GenerateRequest { model: "mine".to_owned(), ..of("acme", text) };
    let kept = base("Of no task?");
    let others = GenerateRequest { tenant_id: own("other"), ..kept.clone() };
    let exact = request(LUNA, "Of a model?");
    let named = [
        (
            Scope::TaskType("summary".to_owned()),
            GenerateRequest { task_type: "summary".to_owned(), ..base("Of a task?") },
        ),
        (
            Scope::Locale("it-IT".to_owned()),
            GenerateRequest { locale: "it-IT".to_owned(), ..base("Of a locale?") },
        ),
        (Scope::Requested(format!("model:{LUNA}")), GenerateRequest { tenant_id: own("acme"), ..exact }),
        (
            Scope::Reference("article-7".to_owned()),
            GenerateRequest { reference: "article-7".to_owned(), ..base("Of an article?") },
        ),
        (
            Scope::PromptTemplate("headline@3".to_owned()),
            GenerateRequest { prompt_template: "headline@3".to_owned(), ..base("Of a version?") },
        ),
        (
            Scope::PromptTemplate("teaser".to_owned()),
            GenerateRequest { prompt_template: "teaser@1".to_owned(), ..base("Of a template?") },
        ),
    ];
    for asked in named.iter().map(|(_, asked)| asked).chain([&kept, &others]) {
        answer(&world, Mode::Unary, asked.clone()).await;
        hit(&world, Mode::Unary, asked.clone()).await;
    }
    for (scope, asked) in named {
        cache(&world).invalidate(invalidate(scope.clone())).await.unwrap();
        let found = answer(&world, Mode::Unary, asked).await;
        assert_eq!(met(&found.route).0, Outcome::Miss, "{scope:?}");
        for other in [&kept, &others] {
            let found = answer(&world, Mode::Unary, other.clone()).await;
            assert_eq!(met(&found.route).0, Outcome::ExactHit, "{scope:?}");
        }
    }
    let entry_id = answer(&world, Mode::Unary, kept.clone()).await.route.cache.unwrap().entry_id;
    let erased = InvalidateRequest { erase: true, ..invalidate(Scope::EntryId(entry_id)) };
    let proof = cache(&world).invalidate(erased).await.unwrap().into_inner().erasure.unwrap();
    assert_eq!((proof.entries, proof.verified_at.is_some()), (1, true));
    assert_eq!(met(&answer(&world, Mode::Unary, kept.clone()).await.route).0, Outcome::Miss);

    hit(&world, Mode::Unary, kept.clone()).await;
    let everything = InvalidateRequest { erase: true, ..invalidate(Scope::Everything(true)) };
    let proof = cache(&world).invalidate(everything).await.unwrap().into_inner().erasure.unwrap();
    assert!(proof.entries >= 1 && !proof.key_ids.is_empty(), "{proof:?}");
    assert_eq!(met(&answer(&world, Mode::Unary, kept).await.route).0, Outcome::Miss);
    hit(&world, Mode::Unary, others).await;
}

async fn an_answer_that_was_reported_wrong_is_not_given_again(topology: Topology) {
    let world = World::start(topology, on()).await;
    let asked = of("acme", "How many legs has a spider?");
    answer(&world, Mode::Unary, asked.clone()).await;
    let served =
        hit(&world, Mode::Unary, GenerateRequest { request_id: "r-1".to_owned(), ..asked.clone() }).await;
    let report = ReportHitRequest {
        tenant_id: own("acme"),
        entry_id: served.route.cache.unwrap().entry_id,
        request_id: "r-1".to_owned(),
        verdict: Verdict::Wrong.into(),
    };
    cache(&world).report_hit(report).await.unwrap();
    assert_eq!(met(&answer(&world, Mode::Unary, asked).await.route).0, Outcome::Miss);
}

async fn stats_and_explanations_say_what_was_done_and_why(topology: Topology) {
    let world = World::start(topology, on()).await;
    let asked = GenerateRequest {
        task_type: "classification".to_owned(),
        ..of("acme", "Rain in two towns: weather or sport?")
    };
    let made = answer(&world, Mode::Unary, asked.clone()).await;
    hit(&world, Mode::Unary, asked.clone()).await;
    let stats = GetCacheStatsRequest { tenant_id: own("acme"), ..Default::default() };
    // Another replica, where there is one, may have counted the first lookup, and tells of it within ten seconds.
    let of_task = eventually_some("both lookups are counted", || async {
        let stats = cache(&world).get_cache_stats(stats.clone()).await.unwrap().into_inner().stats;
        let mut of_task = stats.into_iter().filter(|stats| stats.task_type == "classification");
        of_task.next().filter(|stats| stats.exact_hits >= 1 && stats.lookups > stats.exact_hits)
    })
    .await;
    assert_eq!((of_task.entries, of_task.saved.as_ref().unwrap().nano_eur >= made.cost.nano_eur), (1, true));

    let other = GenerateRequest {
        messages: of("", "Rain in three towns: weather or sport?").messages,
        ..asked.clone()
    };
    let pair = ExplainCacheRequest { stored: Some(asked), asked: Some(other) };
    let explained = cache(&world).explain_cache(pair).await.unwrap().into_inner();
    assert_eq!(explained.outcome(), Outcome::Miss);
    let failed: Vec<_> = explained.checks.iter().filter(|check| !check.passed).collect();
    assert!(failed.iter().any(|check| check.name == "number"), "{failed:?}");
}

both_topologies!(
    each_scope_takes_what_it_names_and_nothing_else,
    an_answer_that_was_reported_wrong_is_not_given_again,
    stats_and_explanations_say_what_was_done_and_why,
);

#[tokio::test]
async fn a_tenants_key_reaches_what_is_its_own_and_no_role_of_the_deployment() {
    let vendors = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
    let mut config = at_simulator(&vendors);
    merge(&mut config, on());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("signalbox.yaml");
    std::fs::write(&file, config.to_string()).unwrap();
    let admin = [("SIGNALBOX_ADMIN_KEY", Fleet::ADMIN_KEY)];
    let env =
        KEYS.iter().chain(&admin).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let signalbox = Signalbox::serve(Options { config: Some(file), env, ..Options::default() }).await;
    let tenant = |id: &str| Tenant { tenant_id: id.to_owned(), ..Tenant::default() };
    for id in ["acme", "other"] {
        signalbox.add_tenant(Fleet::ADMIN_KEY, tenant(id)).await;
    }
    let (_, key) = signalbox.make_key(Fleet::ADMIN_KEY, "acme", api_key::Scope::Tenant).await;
    let mut cache = CacheServiceClient::new(signalbox.keyed(&key));
    let denied = |status: tonic::Status| Refusal::from(status).reason == "PERMISSION_DENIED";
    assert!(denied(cache.lookup(LookupRequest::default()).await.unwrap_err()));
    assert!(denied(cache.renew_flight(RenewFlightRequest::default()).await.unwrap_err()));
    let everything = |tenant: &str| InvalidateRequest {
        tenant_id: tenant.to_owned(),
        scope: Some(Scope::Everything(true)),
        ..Default::default()
    };
    assert!(denied(cache.invalidate(everything("other")).await.unwrap_err()));
    cache.invalidate(everything("acme")).await.unwrap();
    let others = GetCacheStatsRequest { tenant_id: "other".to_owned(), ..Default::default() };
    assert!(denied(cache.get_cache_stats(others).await.unwrap_err()));
    cache.get_cache_stats(GetCacheStatsRequest::default()).await.unwrap();
    let mut admins = CacheServiceClient::new(signalbox.keyed(Fleet::ADMIN_KEY));
    admins.get_cache_stats(GetCacheStatsRequest::default()).await.unwrap();
}
