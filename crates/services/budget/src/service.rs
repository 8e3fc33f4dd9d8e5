//! The handlers: who may call each, and where it is answered.

use crate::{feed::Feed, operate, reconcile, replicas};
use futures_util::stream::BoxStream;
use signalbox_api::{
    status::to_status,
    v1::{self, budget_service_server::BudgetService},
};
use signalbox_budgeting::slice::SliceRules;
use signalbox_kit::{Clock, access::identity, config::ConfigHandle};
use signalbox_ports::{Identity, RateLimiter, SpentRequests, ledger::Ledger, tenants::TenantStore};
use signalbox_types::Failure;
use std::{sync::Arc, time::Duration};
use tonic::{Request, Response, Status};

/// What the service keeps budgets with. Clones share it.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// Plans.
    pub config: Arc<ConfigHandle>,
    /// Tenants, keys and budgets.
    pub tenants: Arc<dyn TenantStore>,
    /// Where the money moves.
    pub ledger: Arc<dyn Ledger>,
    /// Limits of requests and tokens.
    pub rates: Arc<dyn RateLimiter>,
    /// What the usage store says was spent; `None` where there is none to ask.
    pub spent: Option<Arc<dyn SpentRequests>>,
    /// What replicas hear of; a [`Keeper`](crate::Keeper) with the same feed fills it.
    pub feed: Feed,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Where API keys come from: bytes that nobody can guess.
    pub random: fn() -> [u8; 40],
    /// Sizes and times.
    pub options: Options,
}

/// Sizes and times.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How much of a budget a replica gets at a time.
    pub slices: SliceRules,
    /// How long a lease lives without being renewed.
    pub lease_ttl: Duration,
    /// How much later than that it is an orphan.
    pub skew: Duration,
    /// How long what an orphan may have spent is waited for.
    pub write_off_after: Duration,
    /// How long a replica may rely on what it was told of keys and tenants.
    pub cache_ttl: Duration,
    /// How often changes are looked for.
    pub poll: Duration,
    /// How often leases and thresholds are looked after.
    pub sweep: Duration,
    /// How long movements are kept; for ever where it is `None`.
    pub retention: Option<Duration>,
    /// How often those are deleted that are older.
    pub prune: Duration,
    /// How long the store may be away before replicas are told to rely on nothing.
    pub blind_for: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            slices: SliceRules::default(),
            lease_ttl: Duration::from_secs(60),
            skew: Duration::from_secs(5),
            write_off_after: Duration::from_secs(60 * 60),
            cache_ttl: Duration::from_secs(60),
            poll: Duration::from_millis(250),
            sweep: Duration::from_secs(1),
            retention: None,
            prune: Duration::from_secs(60),
            blind_for: Duration::from_secs(30),
        }
    }
}

/// [`BudgetService`] over stores.
#[derive(Debug)]
pub struct BudgetKeeping {
    pub(crate) dependencies: Dependencies,
}

impl BudgetKeeping {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(outcome: Result<T, Failure>) -> Answer<T> {
    outcome.map(Response::new).map_err(|failure| to_status(&failure))
}

/// An operator's request: who asks, and what.
fn of_operator<T>(request: Request<T>) -> Result<(Arc<Identity>, T), Status> {
    let caller = identity(&request);
    caller.may_operate().map_err(|failure| to_status(&failure))?;
    Ok((caller, request.into_inner()))
}

/// A request to read what is a tenant's. `tenant_id` finds what it names; a tenant's own key may leave it out.
fn of_reader<T>(mut request: Request<T>, tenant_id: fn(&mut T) -> &mut String) -> Result<T, Status> {
    let caller = identity(&request);
    let named = tenant_id(request.get_mut());
    *named = caller.tenant(named).map_err(|failure| to_status(&failure))?.to_owned();
    Ok(request.into_inner())
}

/// A request of another role of the deployment.
fn of_role<T>(request: Request<T>) -> Result<T, Status> {
    identity(&request).is_of_deployment().map_err(|failure| to_status(&failure))?;
    Ok(request.into_inner())
}

/// One method: the kind of caller it is for, and the function that answers.
macro_rules! methods {
    ($($method:ident($asked:ident) -> $told:ident: $kind:ident $handler:path;)+) => {
        #[tonic::async_trait]
        impl BudgetService for BudgetKeeping {
            $(async fn $method(&self, request: Request<v1::$asked>) -> Answer<v1::$told> {
                methods!(@$kind self, request, $handler)
            })+

            type WatchAdmissionStream = BoxStream<'static, Result<v1::WatchAdmissionResponse, Status>>;

            async fn watch_admission(
                &self,
                request: Request<v1::WatchAdmissionRequest>,
            ) -> Answer<Self::WatchAdmissionStream> {
                answer(replicas::watch(&self.dependencies, &of_role(request)?))
            }
        }
    };
    (@operator $self:ident, $request:ident, $handler:path) => {{
        let (caller, request) = of_operator($request)?;
        answer($handler(&$self.dependencies, &caller, request).await)
    }};
    (@reader $self:ident, $request:ident, $handler:path) => {{
        let request = of_reader($request, |request| &mut request.tenant_id)?;
        answer($handler(&$self.dependencies, request).await)
    }};
    (@role $self:ident, $request:ident, $handler:path) => {{
        answer($handler(&$self.dependencies, of_role($request)?).await)
    }};
}

methods! {
    create_tenant(CreateTenantRequest) -> CreateTenantResponse: operator operate::create_tenant;
    get_tenant(GetTenantRequest) -> GetTenantResponse: reader operate::get_tenant;
    list_tenants(ListTenantsRequest) -> ListTenantsResponse: operator operate::list_tenants;
    update_tenant(UpdateTenantRequest) -> UpdateTenantResponse: operator operate::update_tenant;
    create_api_key(CreateApiKeyRequest) -> CreateApiKeyResponse: operator operate::create_key;
    list_api_keys(ListApiKeysRequest) -> ListApiKeysResponse: reader operate::list_keys;
    revoke_api_key(RevokeApiKeyRequest) -> RevokeApiKeyResponse: operator operate::revoke_key;
    create_budget(CreateBudgetRequest) -> CreateBudgetResponse: operator operate::create_budget;
    get_budget(GetBudgetRequest) -> GetBudgetResponse: reader operate::get_budget;
    list_budgets(ListBudgetsRequest) -> ListBudgetsResponse: reader operate::list_budgets;
    update_budget(UpdateBudgetRequest) -> UpdateBudgetResponse: operator operate::update_budget;
    top_up_budget(TopUpBudgetRequest) -> TopUpBudgetResponse: operator operate::top_up_budget;
    override_budget(OverrideBudgetRequest) -> OverrideBudgetResponse: operator operate::override_budget;
    forecast_budget(ForecastBudgetRequest) -> ForecastBudgetResponse: reader operate::forecast_budget;
    list_ledger_entries(ListLedgerEntriesRequest) -> ListLedgerEntriesResponse: reader operate::list_entries;
    reconcile_ledger(ReconcileLedgerRequest) -> ReconcileLedgerResponse: operator reconcile::reconcile;
    list_audit_entries(ListAuditEntriesRequest) -> ListAuditEntriesResponse: reader operate::list_audits;
    resolve_api_key(ResolveApiKeyRequest) -> ResolveApiKeyResponse: role replicas::resolve;
    acquire_leases(AcquireLeasesRequest) -> AcquireLeasesResponse: role replicas::acquire;
    renew_leases(RenewLeasesRequest) -> RenewLeasesResponse: role replicas::renew;
    return_leases(ReturnLeasesRequest) -> ReturnLeasesResponse: role replicas::give_back;
    end_replica(EndReplicaRequest) -> EndReplicaResponse: role replicas::end;
    reserve(ReserveRequest) -> ReserveResponse: role replicas::reserve;
    settle(SettleRequest) -> SettleResponse: role replicas::settle;
}
