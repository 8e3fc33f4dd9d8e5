//! Every method of the contract, called by every role and by an operator.

use super::raw::{Way, call, methods};
use prost_reflect::{DynamicMessage, MethodDescriptor};
use serde_json::{Value, json};
use signalbox_kit::{config::MtlsConfig, hop, tls::Mtls};
use signalbox_testkit::{Certificates, Fleet, Options, Signalbox, merge};
use std::time::Duration;
use tonic::Code;

/// So long a stream is waited for that begins with nothing.
const SILENCE: Duration = Duration::from_millis(200);
const ROLES: [&str; 6] = ["router", "adapter", "ingest", "budget", "cache", "batch"];
/// What those ask a budget service who admit requests or learn who calls.
const ADMISSION: [&str; 8] = [
    "ResolveApiKey",
    "WatchAdmission",
    "AcquireLeases",
    "RenewLeases",
    "ReturnLeases",
    "EndReplica",
    "Reserve",
    "Settle",
];

/// The roles that the design lets call a method.
fn callers(service: &str, method: &str) -> &'static [&'static str] {
    match (service, method) {
        ("ProviderService", "InvokeModel" | "InvokeEmbedding") => &["router", "cache", "batch"],
        (
            "ProviderService",
            "SubmitVendorBatch"
            | "GetVendorBatch"
            | "CancelVendorBatch"
            | "StreamVendorBatchResults"
            | "DeleteVendorBatchFiles",
        )
        | ("RouterService", "PrepareBatchItem") => &["batch"],
        ("ProviderService", _) | ("AdminService", "ListVendors") => &["router"],
        ("CacheService", "Lookup" | "Store" | "RenewFlight" | "ReleaseFlight" | "ReportHit") => &["router"],
        ("BudgetService", method) if ADMISSION.contains(&method) => {
            &["router", "adapter", "ingest", "cache", "batch"]
        }
        ("UsageService", "ListRequests") => &["budget"],
        _ => &[],
    }
}

/// Whether no key opens it, however mighty, where roles show certificates.
fn is_for_roles_alone(service: &str, method: &str) -> bool {
    let shared =
        [("AdminService", "ListVendors"), ("CacheService", "ReportHit"), ("UsageService", "ListRequests")];
    !callers(service, method).is_empty() && !shared.contains(&(service, method))
}

/// All roles in two processes, since an adapter's methods are not served beside a router.
struct Pair {
    adapter: Signalbox,
    others: Signalbox,
    certificates: Certificates,
    _folder: tempfile::TempDir,
}

impl Pair {
    async fn start() -> Self {
        let mut certificates = Certificates::new();
        let folder = tempfile::tempdir().unwrap();
        let serve = async |roles: &'static str, mut config: Value, own: Value| {
            merge(&mut config, own);
            let file = folder.path().join(format!("{roles}.yaml"));
            std::fs::write(&file, config.to_string()).unwrap();
            let env = vec![("SIGNALBOX_ADMIN_KEY".to_owned(), Fleet::ADMIN_KEY.to_owned())];
            let (config, internal_listen) = (Some(file), Some(Options::FREE));
            Signalbox::serve(Options { config, roles, env, internal_listen, ..Options::default() }).await
        };
        let adapter = serve("adapter", json!({}), certificates.issue("adapter")).await;
        let peers = json!({"peers": {"adapter": [adapter.peer()]}});
        let roles = "router,ingest,budget,cache,batch";
        let others = serve(roles, peers, certificates.issue(roles)).await;
        Self { adapter, others, certificates, _folder: folder }
    }

    /// Who serves a method.
    fn serving(&self, method: &MethodDescriptor) -> &Signalbox {
        if method.parent_service().name() == "ProviderService" { &self.adapter } else { &self.others }
    }

    /// The identity of a role.
    fn identity(&mut self, role: &'static str) -> std::sync::Arc<Mtls> {
        let section = self.certificates.issue(role);
        let file = |name: &str| section["mtls"][name].as_str().unwrap().into();
        let config = MtlsConfig {
            certificate_file: file("certificate_file"),
            key_file: file("key_file"),
            ca_file: file("ca_file"),
            trust_domain: "signalbox".to_owned(),
        };
        Mtls::load(&config, &[role]).unwrap()
    }
}

/// How an empty question is answered.
async fn code(way: impl Way, method: &MethodDescriptor) -> Code {
    let question = DynamicMessage::new(method.input());
    let answer = tokio::time::timeout(SILENCE, call(way, method, question)).await;
    answer.unwrap_or(Ok(())).map_or_else(|status| status.code(), |()| Code::Ok)
}

#[tokio::test]
async fn each_role_may_call_what_the_design_lets_it_call_and_nothing_else() {
    let mut pair = Pair::start().await;
    for role in ROLES {
        let identity = pair.identity(role);
        let way = |process: &Signalbox, serves| hop::secured(&[process.peer()], &identity, serves).unwrap();
        let (adapter, others) = (way(&pair.adapter, "adapter"), way(&pair.others, "router"));
        for method in methods() {
            let service = method.parent_service();
            let hop = if service.name() == "ProviderService" { &adapter } else { &others };
            let code = code(hop.clone(), &method).await;
            let may = callers(service.name(), method.name()).contains(&role);
            let refused = code == Code::PermissionDenied;
            assert_eq!(refused, !may, "{role} calls {}: {code:?}", method.full_name());
            assert!(![Code::Unavailable, Code::Unauthenticated].contains(&code), "{role}: {code:?}");
        }
    }
}

#[tokio::test]
async fn no_key_opens_what_roles_say_to_each_other_where_they_show_certificates() {
    let pair = Pair::start().await;
    for method in methods() {
        let way = pair.serving(&method).keyed(Fleet::ADMIN_KEY);
        let code = code(way, &method).await;
        let service = method.parent_service();
        let expected = is_for_roles_alone(service.name(), method.name());
        assert_eq!(code == Code::PermissionDenied, expected, "{}: {code:?}", method.full_name());
    }
}
