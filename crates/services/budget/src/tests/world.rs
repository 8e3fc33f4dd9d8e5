//! A service over a ledger in a file, at a time that the test sets.

use crate::{BudgetKeeping, Dependencies, Feed, Options};
use futures_util::future::BoxFuture;
use signalbox_api::{
    status::from_status,
    v1::{
        self, AcquireLeasesRequest, AcquireLeasesResponse, AuditEntry, Budget, BudgetSlice, BudgetStatus,
        Settlement, Tenant, UsageCharge,
        budget::{Enforcement, Period},
        budget_service_server::BudgetService,
        lease::Slice,
    },
};
use signalbox_kit::{
    Clock,
    config::{ConfigHandle, Environment},
};
use signalbox_ledger::SqlLedger;
use signalbox_ports::{
    Identity, Scope, SpentAway, SpentPage, SpentQuery, SpentRequest, SpentRequests, ledger::Ledger,
};
use signalbox_rates::MemoryRates;
use signalbox_types::{ErrorReason, Failure, NANOS_PER_EUR};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, SystemTime},
};
use tempfile::TempDir;
use tonic::{Request, Response, Status};

/// One euro.
pub(super) const EUR: i64 = NANOS_PER_EUR;

/// A clock that stands still until it is set.
#[derive(Debug)]
pub(super) struct Hands(Mutex<SystemTime>);

impl Hands {
    pub(super) fn set(&self, time: &str) {
        *self.0.lock().unwrap() = at(time);
    }

    pub(super) fn forward(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for Hands {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}

/// A time as in `2026-11-30T12:00:00Z`.
pub(super) fn at(time: &str) -> SystemTime {
    time.parse::<prost_types::Timestamp>().unwrap().try_into().unwrap()
}

/// What the usage store would say.
#[derive(Debug, Default)]
pub(super) struct Spent(pub(super) Mutex<Vec<(SystemTime, SpentRequest)>>);

#[async_trait::async_trait]
impl SpentRequests for Spent {
    /// Two to a page.
    async fn page(&self, query: &SpentQuery) -> Result<SpentPage, SpentAway> {
        let all = self.0.lock().unwrap();
        let wanted = |(when, one): &&(SystemTime, SpentRequest)| {
            (query.from..query.until).contains(when)
                && (query.tenant_id.is_empty() || query.tenant_id == one.tenant_id)
                && query.request_id.as_ref().is_none_or(|id| *id == one.request_id)
        };
        let found: Vec<_> = all.iter().filter(wanted).map(|(_, one)| one.clone()).collect();
        let begin: usize = query.page.as_ref().map_or(0, |page| page.parse().unwrap());
        let requests = found.iter().skip(begin).take(2).cloned().collect();
        let next = (begin + 2 < found.len()).then(|| (begin + 2).to_string());
        Ok(SpentPage { requests, next })
    }
}

/// The service and what it stands on.
pub(super) struct World {
    pub(super) service: Arc<BudgetKeeping>,
    pub(super) dependencies: Dependencies,
    pub(super) clock: Arc<Hands>,
    pub(super) spent: Arc<Spent>,
    _dir: TempDir,
}

static KEYS: AtomicU8 = AtomicU8::new(0);

/// Different each time, as it must be.
fn random() -> [u8; 40] {
    let mut bytes = [7; 40];
    bytes[7] = KEYS.fetch_add(1, Ordering::Relaxed);
    bytes
}

impl World {
    /// At noon of the last day of November 2026.
    pub(super) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(Hands(Mutex::new(at("2026-11-30T12:00:00Z"))));
        let url = format!("sqlite:{}", dir.path().join("ledger.db").display());
        let ledger = Arc::new(SqlLedger::with_clock(&url, clock.clone()).unwrap());
        ledger.migrate().await.unwrap();
        let file = dir.path().join("signalbox.yaml");
        std::fs::write(&file, "plans: {small: {requests: 10}}\n").unwrap();
        let config = ConfigHandle::start(Some(file), Environment::default(), clock.clone()).unwrap();
        let spent = Arc::new(Spent::default());
        let dependencies = Dependencies {
            config: Arc::new(config),
            tenants: ledger.clone(),
            ledger,
            rates: Arc::new(MemoryRates::new(clock.clone())),
            spent: Some(spent.clone()),
            feed: Feed::default(),
            clock: clock.clone(),
            random,
            options: Options::default(),
        };
        let service = Arc::new(BudgetKeeping::new(dependencies.clone()));
        Self { service, dependencies, clock, spent, _dir: dir }
    }

    /// With the tenant `acme`.
    pub(super) async fn with_acme() -> Self {
        let world = Self::new().await;
        world.tenant(Tenant { tenant_id: "acme".to_owned(), ..Tenant::default() }).await;
        world
    }

    pub(super) async fn tenant(&self, tenant: Tenant) -> Tenant {
        let request = v1::CreateTenantRequest { tenant: Some(tenant) };
        told(self.service.create_tenant(Request::new(request)).await).tenant.unwrap()
    }

    pub(super) async fn budget(&self, budget: Budget) -> Budget {
        let request = v1::CreateBudgetRequest { budget: Some(budget) };
        told(self.service.create_budget(Request::new(request)).await).budget.unwrap()
    }

    /// How a budget of `acme` stands.
    pub(super) async fn status(&self, budget_id: &str) -> BudgetStatus {
        let request = v1::GetBudgetRequest { tenant_id: "acme".to_owned(), budget_id: budget_id.to_owned() };
        let budget = told(self.service.get_budget(Request::new(request)).await).budget.unwrap();
        let status = budget.status.unwrap();
        let parts = status.free_nano_eur + status.leased_nano_eur + status.reserved_nano_eur;
        assert_eq!(parts + status.settled_nano_eur, status.limit_nano_eur, "{status:?}");
        status
    }

    /// A lease of every budget of `acme` for a replica.
    pub(super) async fn acquire(
        &self,
        replica_id: &str,
        grant_id: &str,
        needed_nano_eur: i64,
    ) -> Result<AcquireLeasesResponse, Failure> {
        self.acquire_as(AcquireLeasesRequest {
            replica_id: replica_id.to_owned(),
            grant_id: grant_id.to_owned(),
            tenant_id: "acme".to_owned(),
            needed_nano_eur,
            ..Default::default()
        })
        .await
    }

    pub(super) fn acquire_as(
        &self,
        request: AcquireLeasesRequest,
    ) -> BoxFuture<'static, Result<AcquireLeasesResponse, Failure>> {
        let service = self.service.clone();
        Box::pin(async move {
            let answer = service.acquire_leases(Request::new(request)).await;
            answer.map(Response::into_inner).map_err(|status| from_status(&status))
        })
    }

    /// Books what a request of a lease cost.
    pub(super) async fn settle(&self, id: &str, slice: &(String, BudgetSlice), amount_nano_eur: i64) {
        self.settle_all(vec![settlement(id, slice, amount_nano_eur)]).await;
    }

    pub(super) async fn settle_all(&self, settlements: Vec<Settlement>) {
        let request = v1::SettleRequest { settlements };
        assert_eq!(told(self.service.settle(Request::new(request)).await).refusals, []);
    }

    /// The audit trail, newest first.
    pub(super) async fn audits(&self) -> Vec<AuditEntry> {
        let request = v1::ListAuditEntriesRequest { tenant_id: "acme".to_owned(), ..Default::default() };
        told(self.service.list_audit_entries(Request::new(request)).await).entries
    }
}

/// What a request of a lease cost.
pub(super) fn settlement(id: &str, slice: &(String, BudgetSlice), amount_nano_eur: i64) -> Settlement {
    let (lease_id, slice) = slice;
    let charge = UsageCharge {
        budget_id: slice.budget.as_ref().unwrap().budget_id.clone(),
        period_id: slice.period_id.clone(),
        lease_id: lease_id.clone(),
        ..Default::default()
    };
    Settlement {
        settlement_id: format!("event-{id}"),
        request_id: id.to_owned(),
        tenant_id: "acme".to_owned(),
        charges: vec![charge],
        amount_nano_eur,
        ..Default::default()
    }
}

/// A monthly budget of `acme`.
pub(super) fn monthly(budget_id: &str, limit_nano_eur: i64) -> Budget {
    Budget {
        budget_id: budget_id.to_owned(),
        tenant_id: "acme".to_owned(),
        period: Period::Monthly as i32,
        enforcement: Enforcement::Hard as i32,
        limit_nano_eur,
        ..Budget::default()
    }
}

/// The slices of budgets in an answer, with their leases.
pub(super) fn slices(answer: &AcquireLeasesResponse) -> Vec<(String, BudgetSlice)> {
    let of_budget = |lease: &v1::Lease| match &lease.slice {
        Some(Slice::Budget(slice)) => Some((lease.lease_id.clone(), slice.clone())),
        _ => None,
    };
    answer.leases.iter().filter_map(of_budget).collect()
}

/// The answer of a call that succeeds.
#[track_caller]
pub(super) fn told<T>(answer: Result<Response<T>, Status>) -> T {
    answer.unwrap_or_else(|status| panic!("{}", from_status(&status))).into_inner()
}

/// Why a call fails.
#[track_caller]
pub(super) fn refused<T>(answer: Result<Response<T>, Status>) -> Failure {
    from_status(&answer.map(drop).unwrap_err())
}

/// The fields that a call names as wrong.
#[track_caller]
pub(super) fn fields<T>(answer: Result<Response<T>, Status>) -> Vec<String> {
    let failure = refused(answer);
    assert_eq!(failure.reason, ErrorReason::InvalidRequest, "{failure}");
    failure.violations.into_iter().map(|violation| violation.field).collect()
}

/// A request of somebody.
pub(super) fn by<T>(scope: &Scope, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let identity = Identity { key_id: "k-caller".to_owned(), scope: scope.clone() };
    request.extensions_mut().insert(Arc::new(identity));
    request
}
