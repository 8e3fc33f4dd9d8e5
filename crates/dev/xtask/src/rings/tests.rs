//! The rule against small made-up workspaces.

use super::violations;
use crate::metadata::Metadata;
use crate::testing::Workspace;

fn check(workspace: Workspace) -> Vec<String> {
    let metadata: Metadata = serde_json::from_value(workspace.into_json()).unwrap();
    violations(&metadata)
}

fn lawful() -> Workspace {
    Workspace::new()
        .member("crates/core/types", "signalbox-types")
        .member("crates/core/pricing", "signalbox-pricing")
        .member("crates/api", "signalbox-api")
        .member("crates/ports", "signalbox-ports")
        .member("crates/kit", "signalbox-kit")
        .member("crates/connectors/vendors", "signalbox-vendors")
        .member("crates/connectors/redis", "signalbox-redis")
        .member("crates/services/router", "signalbox-router")
        .member("crates/services/cache", "signalbox-cache")
        .member("crates/app/signalbox", "signalbox")
        .member("crates/app/vendorsim", "signalbox-vendorsim")
        .member("crates/dev/testkit", "signalbox-testkit")
        .member("crates/dev/xtask", "xtask")
        .member("tests", "signalbox-tests")
        .uses("signalbox-pricing", "signalbox-types")
        .uses("signalbox-api", "signalbox-types")
        .uses("signalbox-router", "signalbox-kit")
        .uses("signalbox", "signalbox-vendors")
        .uses("signalbox", "signalbox-vendorsim")
        .uses("signalbox-testkit", "signalbox-kit")
        .uses("signalbox-tests", "signalbox")
}

#[test]
fn a_lawful_workspace_has_no_violation() {
    assert_eq!(check(lawful()), Vec::<String>::new());
}

#[test]
fn an_inner_ring_may_not_use_an_outer_one() {
    let found = check(lawful().uses("signalbox-types", "signalbox-api"));
    assert_eq!(found, ["signalbox-types may not use signalbox-api: a ring may use only the rings inside it"]);
}

#[test]
fn services_may_not_use_each_other_not_even_in_tests() {
    let direct = check(lawful().uses("signalbox-router", "signalbox-cache"));
    let in_tests = check(lawful().dev_uses("signalbox-router", "signalbox-cache"));
    assert_eq!(direct, in_tests);
    assert!(direct[0].starts_with("signalbox-router may not use signalbox-cache: services"), "{direct:?}");
}

#[test]
fn a_service_may_not_use_a_connector() {
    let found = check(lawful().uses("signalbox-router", "signalbox-vendors"));
    assert!(found[0].starts_with("signalbox-router may not use signalbox-vendors: a service takes ports"));
}

#[test]
fn connectors_stand_side_by_side() {
    let found = check(lawful().uses("signalbox-redis", "signalbox-vendors"));
    assert_eq!(
        found,
        ["signalbox-redis may not use signalbox-vendors: crates of this ring stand side by side"]
    );
}

#[test]
fn connectors_may_share_what_they_know_of_databases() {
    let with = || lawful().member("crates/connectors/sql", "signalbox-sql");
    assert!(check(with().uses("signalbox-redis", "signalbox-sql")).is_empty());
    assert_eq!(check(with().uses("signalbox-sql", "signalbox-redis")).len(), 1);
    assert!(check(with().uses("signalbox-router", "signalbox-sql"))[0].contains("a service takes ports"));
}

#[test]
fn dev_crates_are_for_tests_only() {
    let found = check(lawful().uses("signalbox-kit", "signalbox-testkit"));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("make it a dev-dependency"), "{found:?}");
    assert!(check(lawful().dev_uses("signalbox-kit", "signalbox-testkit")).is_empty());
}

#[test]
fn a_crate_is_named_after_its_folder() {
    let found = check(Workspace::new().member("crates/core/routing", "signalbox-router"));
    assert_eq!(
        found,
        ["signalbox-router lives in crates/core/routing, so its name must be signalbox-routing"]
    );
}

#[test]
fn a_crate_outside_every_ring_is_refused() {
    let found = check(Workspace::new().member("crates/misc/helpers", "signalbox-helpers"));
    assert_eq!(found, ["signalbox-helpers lives in crates/misc/helpers, which is in no ring"]);
}

#[test]
fn the_core_may_not_reach_a_runtime_through_others() {
    let found = check(
        lawful()
            .external("hidden")
            .external("tokio")
            .uses("signalbox-pricing", "hidden")
            .uses("hidden", "tokio"),
    );
    assert_eq!(found, ["signalbox-pricing -> hidden -> tokio: no async runtime in the core"]);
}

#[test]
fn tests_of_the_core_and_other_rings_may_use_a_runtime() {
    let workspace =
        lawful().external("tokio").dev_uses("signalbox-types", "tokio").uses("signalbox-kit", "tokio");
    assert!(check(workspace).is_empty());
}
