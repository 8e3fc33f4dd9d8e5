//! Who may call what: the arrows between the roles of a deployment, as data.
//!
//! With `mtls` the internal listener holds whoever calls to them, by the roles in the certificate; and the public one
//! serves nothing that is for roles alone, whatever key comes with it.

use crate::roles::Role::{self, Adapter, Batch, Budget, Cache, Ingest, Router};
use signalbox_kit::tls::PeerRoles;
use std::{collections::HashMap, sync::LazyLock};

/// Whom methods are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Callers {
    /// Clients and operators, with a key that says what they may do there.
    Clients,
    /// These roles, and nobody else.
    Roles(&'static [Role]),
    /// Clients, operators and these roles.
    ClientsAnd(&'static [Role]),
}

impl Callers {
    /// Whether a process may call that speaks for these roles.
    fn include(self, caller: &PeerRoles) -> bool {
        match self {
            Self::Clients => false,
            Self::Roles(allowed) | Self::ClientsAnd(allowed) => {
                allowed.iter().any(|role| caller.include(role.name()))
            }
        }
    }
}

/// Methods of a service that the same may call.
struct Arrow {
    service: &'static str,
    methods: &'static [&'static str],
    callers: Callers,
}

/// All who admit requests or ask who calls.
const ADMIT: Callers = Callers::Roles(&[Router, Adapter, Ingest, Cache, Batch]);

/// Every method of the contract.
const ARROWS: &[Arrow] = &[
    Arrow {
        service: "signalbox.v1.RouterService",
        methods: &[
            "Generate",
            "StreamGenerate",
            "EstimateCost",
            "ExplainRoute",
            "Embed",
            "ListModels",
            "GetModel",
        ],
        callers: Callers::Clients,
    },
    Arrow {
        // By this the batch lane knows where an item may go.
        service: "signalbox.v1.RouterService",
        methods: &["PrepareBatchItem"],
        callers: Callers::Roles(&[Batch]),
    },
    Arrow {
        service: "signalbox.v1.ProviderService",
        methods: &["StreamInvokeModel", "CountTokens", "WatchHealth"],
        callers: Callers::Roles(&[Router]),
    },
    Arrow {
        // A cache asks models whether two wordings mean the same, and for vectors; the batch lane asks vendors that
        // have no batch endpoint.
        service: "signalbox.v1.ProviderService",
        methods: &["InvokeModel", "InvokeEmbedding"],
        callers: Callers::Roles(&[Router, Cache, Batch]),
    },
    Arrow {
        service: "signalbox.v1.ProviderService",
        methods: &[
            "SubmitVendorBatch",
            "GetVendorBatch",
            "CancelVendorBatch",
            "StreamVendorBatchResults",
            "DeleteVendorBatchFiles",
        ],
        callers: Callers::Roles(&[Batch]),
    },
    Arrow {
        service: "signalbox.v1.CacheService",
        methods: &["Lookup", "Store", "RenewFlight", "ReleaseFlight"],
        callers: Callers::Roles(&[Router]),
    },
    Arrow {
        service: "signalbox.v1.CacheService",
        methods: &["ReportHit"],
        callers: Callers::ClientsAnd(&[Router]),
    },
    Arrow {
        service: "signalbox.v1.CacheService",
        methods: &["Invalidate", "GetCacheStats", "ExplainCache"],
        callers: Callers::Clients,
    },
    Arrow {
        service: "signalbox.v1.BudgetService",
        methods: &[
            "ResolveApiKey",
            "WatchAdmission",
            "AcquireLeases",
            "RenewLeases",
            "ReturnLeases",
            "EndReplica",
            "Reserve",
            "Settle",
        ],
        callers: ADMIT,
    },
    Arrow {
        service: "signalbox.v1.BudgetService",
        methods: &[
            "CreateTenant",
            "GetTenant",
            "ListTenants",
            "UpdateTenant",
            "CreateApiKey",
            "ListApiKeys",
            "RevokeApiKey",
            "CreateBudget",
            "GetBudget",
            "ListBudgets",
            "UpdateBudget",
            "TopUpBudget",
            "OverrideBudget",
            "ForecastBudget",
            "ListLedgerEntries",
            "ReconcileLedger",
            "ListAuditEntries",
        ],
        callers: Callers::Clients,
    },
    Arrow {
        // What the ledger is compared with.
        service: "signalbox.v1.UsageService",
        methods: &["ListRequests"],
        callers: Callers::ClientsAnd(&[Budget]),
    },
    Arrow {
        service: "signalbox.v1.UsageService",
        methods: &[
            "QueryUsage",
            "GetRequest",
            "StreamUsage",
            "ExportUsage",
            "GetOverage",
            "ListAlerts",
            "ListDeadLetters",
            "ReplayDeadLetters",
            "DiscardDeadLetters",
        ],
        callers: Callers::Clients,
    },
    Arrow {
        // By this a router knows which vendors its adapters reach.
        service: "signalbox.v1.AdminService",
        methods: &["ListVendors"],
        callers: Callers::ClientsAnd(&[Router]),
    },
    Arrow {
        service: "signalbox.v1.AdminService",
        methods: &["GetConfigStatus", "ReloadConfig", "StartDrill", "StopDrill", "ListDrills"],
        callers: Callers::Clients,
    },
    Arrow {
        service: "signalbox.v1.BatchService",
        methods: &["SubmitBatchJob", "GetBatchJob", "ListBatchJobs", "CancelBatchJob", "StreamBatchResults"],
        callers: Callers::Clients,
    },
];

/// Whether a process that speaks for these roles may call a method, given by its path.
pub(crate) fn may_call(method: &str, caller: &PeerRoles) -> bool {
    callers(method).is_some_and(|callers| callers.include(caller))
}

/// Whom a method is for, by its path, as in `/signalbox.v1.RouterService/Generate`; none where the contract does not
/// have it.
fn callers(path: &str) -> Option<Callers> {
    static BY_PATH: LazyLock<HashMap<String, Callers>> = LazyLock::new(|| {
        let methods = ARROWS.iter().flat_map(|arrow| arrow.methods.iter().map(move |method| (arrow, method)));
        methods.map(|(arrow, method)| (format!("/{}/{method}", arrow.service), arrow.callers)).collect()
    });
    BY_PATH.get(path).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message as _;
    use prost_types::FileDescriptorSet;
    use std::collections::BTreeSet;

    fn methods_of_the_contract() -> BTreeSet<String> {
        let files = FileDescriptorSet::decode(signalbox_api::DESCRIPTOR_SET).unwrap().file;
        let mut methods = BTreeSet::new();
        for file in files {
            for service in &file.service {
                for method in &service.method {
                    methods.insert(format!("/{}.{}/{}", file.package(), service.name(), method.name()));
                }
            }
        }
        methods
    }

    fn methods_of_the_table() -> Vec<String> {
        let each = ARROWS.iter().flat_map(|arrow| arrow.methods.iter().map(move |method| (arrow, method)));
        each.map(|(arrow, method)| format!("/{}/{method}", arrow.service)).collect()
    }

    /// As `docs/security.md` has it, for methods that a role may call.
    fn row(arrow: &Arrow) -> Option<String> {
        let (roles, by_key) = match arrow.callers {
            Callers::Clients => return None,
            Callers::Roles(roles) => (roles, "no"),
            Callers::ClientsAnd(roles) => (roles, "yes"),
        };
        let service = arrow.service.trim_start_matches("signalbox.v1.");
        let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
        Some(format!("| {service}: {} | {} | {by_key} |", arrow.methods.join(", "), roles.join(", ")))
    }

    #[test]
    fn operators_are_told_the_same() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/security.md");
        let page = std::fs::read_to_string(page).unwrap();
        let told = page.lines().filter(|line| line.starts_with("| ") && line.contains("Service: "));
        let told: BTreeSet<String> = told.map(str::to_owned).collect();
        assert_eq!(told, ARROWS.iter().filter_map(row).collect());
    }

    fn speaking_for(roles: &[Role]) -> PeerRoles {
        roles.iter().map(|role| role.name()).collect()
    }

    #[test]
    fn it_is_decided_of_every_method_who_may_call_it_and_once() {
        let decided = methods_of_the_table();
        let once: BTreeSet<String> = decided.iter().cloned().collect();
        assert_eq!(decided.len(), once.len(), "a method is there twice");
        assert_eq!(once, methods_of_the_contract());
    }

    #[test]
    fn roles_reach_what_the_design_draws_an_arrow_to_and_nothing_else() {
        let may =
            |role: Role, method: &str| may_call(&format!("/signalbox.v1.{method}"), &speaking_for(&[role]));
        let who = |method: &str| Role::ALL.into_iter().filter(|role| may(*role, method)).collect::<Vec<_>>();
        assert_eq!(who("ProviderService/StreamInvokeModel"), [Router]);
        assert_eq!(who("ProviderService/InvokeModel"), [Router, Cache, Batch]);
        assert_eq!(who("ProviderService/SubmitVendorBatch"), [Batch]);
        assert_eq!(who("RouterService/PrepareBatchItem"), [Batch]);
        assert_eq!(who("CacheService/Store"), [Router]);
        assert_eq!(who("BudgetService/Settle"), [Router, Adapter, Ingest, Cache, Batch]);
        assert_eq!(who("UsageService/ListRequests"), [Budget]);
        assert_eq!(who("AdminService/ListVendors"), [Router]);
        for nobodys in
            ["BudgetService/CreateApiKey", "RouterService/Generate", "AdminService/ReloadConfig", "X/Y"]
        {
            assert_eq!(who(nobodys), [], "{nobodys}");
        }
    }

    #[test]
    fn a_process_of_several_roles_may_what_one_of_them_may() {
        let lookup = |roles: &[Role]| may_call("/signalbox.v1.CacheService/Lookup", &speaking_for(roles));
        assert!(lookup(&[Adapter, Router]));
        assert!(!lookup(&[Adapter, Cache]));
        assert!(!lookup(&[]));
    }
}
