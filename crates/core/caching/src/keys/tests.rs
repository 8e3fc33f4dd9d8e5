use super::*;
use proptest::prelude::*;
use signalbox_types::{Message, Part, Role};

fn request(text: &str) -> GenerateRequest {
    let mut request = GenerateRequest {
        tenant_id: "acme".to_owned(),
        task_type: "headline".to_owned(),
        locale: "it-IT".to_owned(),
        reference: "article-1".to_owned(),
        ..GenerateRequest::default()
    };
    request.prompt.messages = vec![Message { role: Role::User, parts: vec![Part::text(text)] }];
    request
}

const CONTEXT: Context<'static> =
    Context { requested: "fast", prompt_template: "headline@3", policy_version: "7" };

fn keys(tenant: &TenantKeys, request: &GenerateRequest) -> Keys {
    tenant.keys(request, &Canonical::of(request, &CONTEXT))
}

fn hex(digest: Digest) -> String {
    digest.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn tenant(id: &str) -> TenantKeys {
    Secret::new(b"a secret of the deployment").tenant(id)
}

/// The partition's four, exact, normalised, a text and a basis, as Python's `hmac` has them.
const GOLDEN: [&str; 8] = [
    "c261a9235788fa89b9ed019f63df00ca",
    "ceaec452bf5931e786dde063ee71d9f1",
    "d41c1e3f63b491b272bc03a215ed0018",
    "8d2254bc1ec3d7a6e20f42aed2a9b84d",
    "07a9e34ca7d6277cdff88803280c3038",
    "143cfc19e5d7031350e2df9e85b2b277",
    "c4ef4d33fb38f90a76f9c4d11858d2c8",
    "3a80870f49e34282df705f05529ab8be",
];

/// Entries outlive releases.
#[test]
fn the_keys_of_version_1_do_not_change() {
    let tenant = tenant("acme");
    let Keys { exact, partition } = keys(&tenant, &request("Write a headline"));
    let normalised = tenant.normalised(&partition, "write a headline", b"signature");
    let found = [
        partition.tenant,
        partition.task,
        partition.locale,
        partition.fingerprint,
        exact,
        normalised,
        tenant.text("hashed-ngrams-512", "write a headline"),
        tenant.basis(&[b"hashed-ngrams-512", b"3"]),
    ];
    assert_eq!(found.map(hex), GOLDEN);
    let wrapping = Secret::new(b"a secret of the deployment").wrapping_key("acme");
    assert_eq!(wrapping[..4], [0xbc, 0x5d, 0xf1, 0x0a]);
}

#[test]
fn another_secret_leads_to_other_keys() {
    let request = request("Write a headline");
    let (one, other) = (Secret::new(b"one").tenant("acme"), Secret::new(b"other").tenant("acme"));
    let (one, other) = (keys(&one, &request), keys(&other, &request));
    assert_ne!(one.exact, other.exact);
    assert_ne!(one.partition.tenant, other.partition.tenant);
    assert_ne!(one.partition.locale, other.partition.locale);
}

#[test]
fn another_wording_shares_the_partition_and_not_the_key() {
    let tenant = tenant("acme");
    let (one, other) = (keys(&tenant, &request("Write a headline")), keys(&tenant, &request("A headline")));
    assert_eq!(one.partition, other.partition);
    assert_ne!(one.exact, other.exact);
}

#[test]
fn a_normalised_key_depends_on_text_signature_and_everything_else() {
    let tenant = tenant("acme");
    let partition = keys(&tenant, &request("x")).partition;
    let mut elsewhere = request("x");
    elsewhere.prompt.system = "Be brief.".to_owned();
    let other = keys(&tenant, &elsewhere).partition;
    let all = [
        tenant.normalised(&partition, "a", b"b"),
        tenant.normalised(&partition, "ab", b""),
        tenant.normalised(&partition, "", b"ab"),
        tenant.normalised(&other, "a", b"b"),
    ];
    let distinct: std::collections::BTreeSet<_> = all.into_iter().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn digests_of_different_kinds_never_meet() {
    let tenant = tenant("x");
    let digests = [
        tenant.tenant(),
        tenant.of(Kind::Task, "x"),
        tenant.of(Kind::Locale, "x"),
        tenant.of(Kind::Requested, "x"),
        tenant.of(Kind::Template, "x"),
        tenant.of(Kind::Reference, "x"),
        tenant.basis(&[b"x"]),
    ];
    let distinct: std::collections::BTreeSet<_> = digests.into_iter().collect();
    assert_eq!(distinct.len(), digests.len());
}

#[test]
fn an_entry_is_stored_under_everything_that_an_invalidation_can_name() {
    let tenant = tenant("acme");
    let scopes = tenant.scopes(&request("x"), &CONTEXT);
    for named in [
        Scope::Tenant,
        tenant.task("headline"),
        tenant.locale("it-IT"),
        tenant.requested("fast"),
        tenant.template("headline@3"),
        tenant.template("headline"),
        tenant.reference("article-1"),
    ] {
        assert!(scopes.contains(&named), "{named:?}");
    }
    assert_eq!(scopes.len(), 7);
    assert!(scopes.is_sorted());
}

#[test]
fn what_a_request_does_not_say_is_no_scope() {
    let mut request = request("x");
    request.reference.clear();
    let scopes = tenant("acme").scopes(&request, &Context { prompt_template: "", ..CONTEXT });
    assert_eq!(scopes.len(), 4);
    let unversioned = tenant("acme").scopes(&request, &Context { prompt_template: "headline", ..CONTEXT });
    assert_eq!(unversioned.len(), 5);
}

#[test]
fn neither_secret_nor_keys_are_shown() {
    let secret = Secret::new(b"hunter2");
    assert_eq!(format!("{secret:?}"), "Secret");
    let shown = format!("{:?}", secret.tenant("acme"));
    assert!(!shown.contains("acme") && !shown.contains("hunter2") && !shown.contains("key:"), "{shown}");
}

proptest! {
    #[test]
    fn tenants_share_nothing_whatever_they_are_called(one in "(?s).{0,8}", other in "(?s).{0,8}") {
        prop_assume!(one != other);
        let request = request("Write a headline");
        let (one, other) = (keys(&tenant(&one), &request), keys(&tenant(&other), &request));
        prop_assert_ne!(one.exact, other.exact);
        let (one, other) = (one.partition, other.partition);
        prop_assert!(one.tenant != other.tenant && one.task != other.task);
        prop_assert!(one.locale != other.locale && one.fingerprint != other.fingerprint);
    }
}

#[test]
fn tenants_that_begin_alike_or_hold_separators_share_nothing() {
    let long = "a".repeat(10_000);
    let longer = format!("{long}a");
    let ids = ["", "a", "aa", "a\0", "a}", "{a}", "a|b", "a:b", "*", " ", "а", &long, &longer];
    let found: std::collections::BTreeSet<_> = ids.iter().map(|id| tenant(id).tenant()).collect();
    assert_eq!(found.len(), ids.len());
}
