//! A list or a map that is empty means "everything" to Kubernetes: where that would open something, it is refused.

use super::{refusals::refusal_of_all, vendors::split_takes};

/// What is set, and where the message says that it is wrong.
const OPENINGS: [(&str, &str); 14] = [
    (r#"networkPolicy.egress.dns.ports=[]"#, "/networkPolicy/egress/dns/ports'"),
    (r#"networkPolicy.egress.vendors=null"#, "missing property 'vendors'"),
    (r#"networkPolicy.clients[0]={}"#, "/networkPolicy/clients/0'"),
    (r#"networkPolicy.clients[1]={"podSelector":{"matchLabel":{"a":"b"}}}"#, "'matchLabel' not allowed"),
    (
        r#"networkPolicy.clients[2]={"podSelector":{"matchLabels":{}}}"#,
        "/networkPolicy/clients/2/podSelector/matchLabels'",
    ),
    (
        r#"networkPolicy.clients[3]={"podSelector":{"matchExpressions":[]}}"#,
        "/networkPolicy/clients/3/podSelector/matchExpressions'",
    ),
    (
        r#"networkPolicy.clients[4]={"ipBlock":{"cidr":"10.0.0.0/8"},"podSelector":{}}"#,
        "/networkPolicy/clients/4'",
    ),
    (
        r#"networkPolicy.clients[5]={"ipBlock":{"cidr":"10.0.0.0/33"}}"#,
        "/networkPolicy/clients/5/ipBlock/cidr'",
    ),
    (r#"networkPolicy.extraEgress.router=[{}]"#, "/networkPolicy/extraEgress/router/0'"),
    (r#"networkPolicy.extraEgress.adapter=[{"to":[]}]"#, "/networkPolicy/extraEgress/adapter/0/to'"),
    (
        r#"networkPolicy.extraEgress.budget=[{"to":[{"podSelector":{}}],"ports":[]}]"#,
        "/networkPolicy/extraEgress/budget/0/ports'",
    ),
    (r#"networkPolicy.extraEgress.cache=[{"ports":[{}]}]"#, "/networkPolicy/extraEgress/cache/0/ports/0'"),
    (r#"networkPolicy.extraEgress.ingest=[{"ports":[{"prot":1}]}]"#, "'prot' not allowed"),
    (r#"spool.persistence.accessModes=[]"#, "/spool/persistence/accessModes'"),
];

#[test]
fn nothing_is_opened_by_being_empty() {
    let sets: Vec<&str> = OPENINGS.iter().map(|(set, _)| *set).collect();
    let message = refusal_of_all("split", &sets);
    for (set, told) in OPENINGS {
        assert!(message.contains(told), "{set}: {message}");
    }
}

#[test]
fn peers_and_rules_that_say_whom_they_mean_are_taken() {
    split_takes(&[
        r#"networkPolicy.clients=[{"podSelector":{}},{"ipBlock":{"cidr":"fd00::/8","except":["fd00:1::/32"]}}]"#,
        r#"networkPolicy.operators=[{"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"In","values":["a"]}]}}]"#,
        r#"networkPolicy.prometheus=[]"#,
        r#"networkPolicy.extraEgress.batch=[{"to":[{"podSelector":{}}]},{"ports":[{"protocol":"TCP","port":3128,"endPort":3130}]}]"#,
    ]);
}
