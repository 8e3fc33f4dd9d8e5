use super::{errors::assert_problems, *};
use signalbox_caching::{Semantic, TaskPolicy};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn without_a_word_only_the_very_same_request_gets_an_answer_again() {
    let loaded = good("{}");
    let cache = &loaded.config.cache;
    assert!(cache.enabled && cache.single_flight);
    assert_eq!((cache.embedder(), cache.verifier()), (EmbedderChoice::BuiltIn, None));
    let policy = loaded.catalog.cache_policy("acme", "");
    assert!(policy.exact && !policy.normalized);
    assert_eq!(policy.semantic, Semantic::Off);
    assert_eq!(**loaded.catalog.cache_policy("acme", "no such task"), TaskPolicy::default());
}

#[test]
fn the_tenant_is_asked_before_the_task_and_the_task_before_everybody() {
    let loaded = good(
        "cache: {defaults: {ttl: 2h, precision_target: 0.95}}
task_types:
  classification: {cache: {normalized: true, semantic: 'on', floor: 0.8, floors: {openai/e: 0.7}}}
  headline: {cache: {exact: false}}
tenants:
  acme:
    cache: {ttl: 3d}
    task_types: {classification: {cache: {normalized: false, semantic: off}}}
",
    );
    let policy = |tenant, task| loaded.catalog.cache_policy(tenant, task);
    let everybodys = policy("other", "classification");
    assert_eq!((everybodys.semantic, everybodys.ttl), (Semantic::On, Duration::from_secs(7200)));
    assert_eq!((everybodys.floor_of("openai/e"), everybodys.floor_of("x")), (0.7, 0.8));
    assert!(everybodys.normalized);
    assert!((everybodys.precision_target - 0.95).abs() < f64::EPSILON);
    let own = policy("acme", "classification");
    assert_eq!((own.semantic, own.ttl, own.floor), (Semantic::Off, 3 * DAY, 0.8));
    assert!(!own.normalized && !policy("acme", "tags").normalized);
    assert!(!policy("acme", "headline").exact);
    assert_eq!(policy("acme", "").ttl, 3 * DAY);
}

#[test]
fn sections_that_cannot_be_meant_are_refused_with_the_field() {
    assert_problems(
        "cache:\n  store: {memory: {}, redis: {url: 'redis://host'}}\n",
        &["2:10: cache.store: give either"],
    );
    assert_problems("cache:\n  store: {redis: {}}\n", &["2:18: cache.store.redis: needs a `url`"]);
    assert_problems(
        "cache:\n  embedder: openai/gpt-6-luna\n",
        &["2:13: cache.embedder: `openai/gpt-6-luna` lacks embeddings"],
    );
    assert_problems(
        "cache:\n  verifier: openai/nobody\n",
        &["2:13: cache.verifier: no model `openai/nobody`"],
    );
    assert_problems(
        "cache:\n  defaults: {ttl: 31d}\n",
        &["2:19: cache.defaults.ttl: `31d` is more than 30 days"],
    );
    assert_problems("cache:\n  defaults: {ttl: 0s}\n", &["2:19: cache.defaults.ttl: zero"]);
    assert_problems(
        "task_types:\n  headline: {cache: {floor: 0.2, floors: {x: 2}, precision_target: 1}}\n",
        &[
            "2:29: task_types.headline.cache.floor: must be a similarity",
            "2:46: task_types.headline.cache.floors.x: must be a similarity",
            "2:68: task_types.headline.cache.precision_target: must be a share",
        ],
    );
    assert_problems(
        "tenants:\n  acme: {cache: {semantic: maybe}}\n",
        &["2:28: tenants.acme.cache.semantic: `maybe` is not one of off, shadow, on"],
    );
    assert!(warnings("cache: {defaults: {semantic: shadow, ttl: 10d}}").contains("more than 7 days"));
}

#[test]
fn a_secret_is_long_or_there_is_none_and_it_is_never_repeated() {
    let cache = good("{}").config.cache.clone();
    assert_eq!(cache.secret(&Environment::default()), Ok(None));
    let long = "s3cr3ts3cr3ts3cr3ts3cr3ts3cr3ts3cr3t";
    let found = cache.secret(&Environment::new([("SIGNALBOX_CACHE_SECRET", long)])).unwrap().unwrap();
    assert_eq!(found.expose(), long);
    let problem = cache.secret(&Environment::new([("SIGNALBOX_CACHE_SECRET", "s3cr3t")])).unwrap_err();
    assert!(problem.starts_with("SIGNALBOX_CACHE_SECRET has 6 characters") && !problem.contains("s3cr3t"));
}
