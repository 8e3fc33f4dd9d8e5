//! Who reaches whom. Policies are read as a network plugin reads them, and compared with the arrows of the design.

use super::manifests::{Faults, Manifests, Pod, list, map, text};
use serde_json::Value;

/// Which role calls which, as docs/architecture.md has it.
const ARROWS: [(&str, &str); 11] = [
    ("router", "adapter"),
    ("router", "budget"),
    ("router", "cache"),
    ("adapter", "budget"),
    ("ingest", "budget"),
    ("cache", "budget"),
    ("cache", "adapter"),
    ("budget", "ingest"),
    ("batch", "router"),
    ("batch", "adapter"),
    ("batch", "budget"),
];

/// Every port that a pod may have.
const PORTS: [u64; 4] = [50051, 50052, 50053, 9464];

fn policies<'m>(
    manifests: &'m Manifests,
    pod: &'m Pod<'_>,
    direction: &'static str,
) -> impl Iterator<Item = &'m Value> {
    manifests.of_kind("NetworkPolicy").filter(move |policy| {
        pod.is_selected_by(&policy["spec"]["podSelector"]["matchLabels"])
            && list(policy, "/spec/policyTypes").iter().any(|kind| kind == direction)
    })
}

/// Whether a peer of a rule may be a pod of this namespace.
fn is_peer(peer: &Value, pod: &Pod<'_>) -> bool {
    if let Some(namespaces) = peer.get("namespaceSelector") {
        let here = map(namespaces, "/matchLabels");
        return here.is_empty() && peer.get("podSelector").is_none();
    }
    peer.get("podSelector").is_some_and(|selector| {
        map(selector, "/matchLabels").is_empty() || pod.is_selected_by(&selector["matchLabels"])
    })
}

fn has_rule(policy: &Value, direction: &str, peers: &str, other: &Pod<'_>, port: u64) -> bool {
    list(policy, &format!("/spec/{direction}")).iter().any(|rule| {
        let ports = list(rule, "/ports");
        let at =
            ports.is_empty() || ports.iter().any(|known| known["port"] == port && known["protocol"] == "TCP");
        let listed = list(rule, &format!("/{peers}"));
        at && (listed.is_empty() || listed.iter().any(|peer| is_peer(peer, other)))
    })
}

/// Whether the policies let one pod reach a port of another.
fn reaches(manifests: &Manifests, from: &Pod<'_>, to: &Pod<'_>, port: u64) -> bool {
    let leaves = policies(manifests, from, "Egress").any(|policy| has_rule(policy, "egress", "to", to, port));
    let enters =
        policies(manifests, to, "Ingress").any(|policy| has_rule(policy, "ingress", "from", from, port));
    leaves && enters
}

/// Whether the design has a call from one deployment to another.
fn has_arrow(from: &Pod<'_>, to: &Pod<'_>) -> bool {
    let (callers, callees) = (from.roles(), to.roles());
    ARROWS.iter().any(|(caller, callee)| {
        // What is in the process already is called there, and an adapter beside a router serves nobody else.
        let apart = callers.contains(caller) && callees.contains(callee) && !callers.contains(callee);
        let reserved = *callee == "adapter" && callees.contains(&"router");
        apart && !reserved
    })
}

#[test]
fn pods_reach_each_other_where_the_design_has_an_arrow_and_nowhere_else() {
    let (mut faults, mut arrows) = (Faults::default(), 0);
    for manifests in Manifests::all() {
        if manifests.of_kind("NetworkPolicy").count() == 0 {
            assert_eq!(manifests.name, "bare");
            continue;
        }
        let mtls = super::configuration::of(&manifests).get("mtls").is_some();
        for from in manifests.pods() {
            for to in manifests.serving().filter(|to| to.name() != from.name()) {
                for port in PORTS {
                    let wanted = port == if mtls { 50052 } else { 50051 } && has_arrow(&from, &to);
                    let found = reaches(&manifests, &from, &to, port);
                    arrows += usize::from(wanted);
                    let told =
                        || format!("{}: {} to {}:{port}: {found}", manifests.name, from.name(), to.name());
                    faults.unless(found == wanted, told);
                }
            }
        }
    }
    faults.assert_none();
    assert!(arrows > 25, "only {arrows} were looked at");
}

#[test]
fn everybody_has_policies_for_both_directions() {
    for manifests in Manifests::all().iter().filter(|manifests| manifests.name != "bare") {
        for pod in manifests.pods() {
            for direction in ["Ingress", "Egress"] {
                let count = policies(manifests, &pod, direction).count();
                assert!(count >= pod.roles().len().max(1), "{}: {}: {count}", manifests.name, pod.name());
            }
        }
        for policy in manifests.of_kind("NetworkPolicy") {
            let selector = &policy["spec"]["podSelector"]["matchLabels"];
            let found = manifests.pods().any(|pod| pod.is_selected_by(selector));
            assert!(found, "{}: {} is for nobody", manifests.name, policy["metadata"]["name"]);
        }
    }
}

/// The ports that a role's policy lets out, with where to.
fn ways_out(manifests: &Manifests, policy: &str) -> Vec<(u64, Value)> {
    let policy = manifests.find("NetworkPolicy", policy).unwrap();
    let rules = list(policy, "/spec/egress").iter();
    let ways = rules.flat_map(|rule| list(rule, "/ports").iter().map(move |port| (port, &rule["to"])));
    ways.map(|(port, to)| (port["port"].as_u64().unwrap(), to.clone())).collect()
}

#[test]
fn the_air_gapped_example_has_no_way_out() {
    let manifests = Manifests::example("air-gapped");
    for policy in manifests.of_kind("NetworkPolicy") {
        for (port, to) in ways_out(&manifests, text(policy, "/metadata/name")) {
            assert!(!list(&to, "").is_empty(), "{}: {port} leads anywhere", policy["metadata"]["name"]);
            assert_ne!(port, 443, "{}", policy["metadata"]["name"]);
        }
    }
    let models = |(port, to): &(u64, Value)| *port == 8000 && to.to_string().contains("models");
    assert!(ways_out(&manifests, "signalbox-adapter").iter().any(models));
}

#[test]
fn what_the_operators_configuration_reaches_is_let_out_by_itself() {
    let everything = Manifests::example("everything");
    let ports = |policy: &str| -> Vec<u64> {
        ways_out(&everything, policy).into_iter().map(|(port, _)| port).collect()
    };
    let adapter = ports("llm-box-adapter");
    assert!([443, 11434, 8443, 3128].iter().all(|port| adapter.contains(port)), "{adapter:?}");
    let router = ports("llm-box-router");
    assert!([443, 8080].iter().all(|port| router.contains(port)) && !router.contains(&11434), "{router:?}");
    let ingest = ports("llm-box-ingest");
    assert!([443, 9000].iter().all(|port| ingest.contains(port)), "{ingest:?}");
    let budget = ports("llm-box-budget");
    assert!([5433, 6379, 4222, 4223].iter().all(|port| budget.contains(port)), "{budget:?}");
    let batch = ports("llm-box-batch");
    assert!([443, 8080].iter().all(|port| batch.contains(port)) && !batch.contains(&11434), "{batch:?}");
    assert!(batch.contains(&5434) && !batch.contains(&5433), "{batch:?}");
    let migrations = ports("llm-box-migrate");
    assert_eq!(migrations, [5353, 5353, 5433, 443, 5434], "{migrations:?}");
}
