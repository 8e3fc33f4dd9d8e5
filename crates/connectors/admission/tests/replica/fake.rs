//! A stand-in for the budget service that does as it is told: a small ledger in memory, and a switch that turns it off.

use signalbox_api::{
    convert::duration_to_proto,
    status::to_status,
    v1::{self, budget_service_server::BudgetService, lease::Slice, watch_admission_response::Change},
};
use signalbox_types::{ErrorReason, Failure, Quota, QuotaViolation};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::{sync::broadcast, time::Instant};
use tokio_stream::{StreamExt, wrappers::BroadcastStream};
use tonic::{Request, Response, Status};

pub(crate) const TTL: Duration = Duration::from_secs(60);
pub(crate) const EUR: i64 = 1_000_000_000;

/// Clones are the same service.
#[derive(Clone)]
pub(crate) struct FakeBudgets {
    world: Arc<Mutex<World>>,
    news: broadcast::Sender<Option<(String, Change)>>,
}

#[derive(Default)]
pub(crate) struct World {
    pub(crate) away: bool,
    /// So many calls come to nothing, as at a replica that has just gone while others are there.
    pub(crate) lost: usize,
    /// What is behind the service is away for this tenant.
    pub(crate) stuck: String,
    /// How long a call takes.
    pub(crate) latency: Duration,
    pub(crate) calls: HashMap<&'static str, usize>,
    pub(crate) tenants: HashMap<String, v1::Tenant>,
    pub(crate) budgets: Vec<v1::Budget>,
    /// By lease id.
    pub(crate) leases: HashMap<String, Lease>,
    pub(crate) keys: HashMap<String, (v1::ApiKey, Vec<u8>)>,
    /// Rates of every tenant, as they are handed out.
    pub(crate) rates: Vec<v1::RateSlice>,
    pub(crate) ttl_of_rates: Duration,
    /// Nothing more is handed out of them.
    pub(crate) rates_used_up: bool,
    /// Requests of the rate that were given back.
    pub(crate) rate_returned: u64,
    pub(crate) asked: Vec<v1::AcquireLeasesRequest>,
    pub(crate) authentication_required: bool,
    pub(crate) live_replicas: u32,
    /// Heartbeats stop, but the stream stays open.
    pub(crate) silent: bool,
    pub(crate) next: usize,
}

pub(crate) struct Lease {
    pub(crate) replica: String,
    pub(crate) budget: usize,
    pub(crate) granted: i64,
    pub(crate) returned: i64,
    pub(crate) expires: Instant,
    pub(crate) orphaned: bool,
}

impl FakeBudgets {
    pub(crate) fn new() -> Self {
        let fake = Self {
            world: Arc::new(Mutex::new(World { ttl_of_rates: TTL, ..World::default() })),
            news: broadcast::channel(1_000).0,
        };
        let beating = fake.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if !beating.world().silent {
                    beating.tell("", beating.heartbeat());
                }
            }
        });
        fake
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Tells one replica, or all.
    pub(crate) fn tell(&self, replica: &str, change: Change) {
        let _nobody = self.news.send(Some((replica.to_owned(), change)));
    }

    fn heartbeat(&self) -> Change {
        let world = self.world();
        Change::Heartbeat(v1::watch_admission_response::Heartbeat {
            authentication_required: world.authentication_required,
            live_replicas: world.live_replicas,
        })
    }

    /// The process dies: calls fail and streams break.
    pub(crate) fn kill(&self) {
        self.world().away = true;
        let _nobody = self.news.send(None);
    }

    pub(crate) fn start(&self) {
        self.world().away = false;
    }

    pub(crate) fn calls(&self, method: &'static str) -> usize {
        self.world().calls.get(method).copied().unwrap_or_default()
    }

    pub(crate) fn all_calls(&self) -> usize {
        self.world().calls.values().sum()
    }

    /// A tenant with a budget.
    pub(crate) fn with_budget(&self, tenant: v1::Tenant, limit: i64) {
        let budget = v1::Budget {
            budget_id: "monthly".into(),
            tenant_id: tenant.tenant_id.clone(),
            limit_nano_eur: limit,
            enforcement: v1::budget::Enforcement::Hard.into(),
            ..Default::default()
        };
        let mut world = self.world();
        world.budgets.push(budget);
        world.tenants.insert(tenant.tenant_id.clone(), tenant);
    }

    async fn called(&self, method: &'static str) -> Result<(), Status> {
        let latency = self.world().latency;
        tokio::time::sleep(latency).await;
        let mut world = self.world();
        *world.calls.entry(method).or_default() += 1;
        if world.lost > 0 {
            world.lost -= 1;
            return Err(Status::unavailable("connection refused"));
        }
        if world.away { Err(Status::unavailable("killed")) } else { Ok(()) }
    }
}

impl World {
    /// Outstanding in the hands of replicas.
    pub(crate) fn leased(&self, budget: usize) -> i64 {
        self.leases.values().filter(|lease| lease.budget == budget).map(|l| l.granted - l.returned).sum()
    }

    fn free(&self, budget: usize) -> i64 {
        self.budgets[budget].limit_nano_eur - self.leased(budget)
    }

    fn told(&self, lease_id: &str) -> v1::Lease {
        let lease = &self.leases[lease_id];
        let budget = &self.budgets[lease.budget];
        let mut status = budget.status.clone().unwrap_or_default();
        status.period_id = "2026-11".into();
        status.limit_nano_eur = budget.limit_nano_eur;
        status.free_nano_eur = self.free(lease.budget);
        let slice = v1::BudgetSlice {
            budget: Some(v1::Budget { status: Some(status), ..budget.clone() }),
            period_id: "2026-11".into(),
            granted_nano_eur: lease.granted,
        };
        v1::Lease {
            lease_id: lease_id.to_owned(),
            slice: Some(Slice::Budget(slice)),
            ttl: Some(duration_to_proto(lease.expires - Instant::now())),
        }
    }

    pub(crate) fn expire(&mut self) {
        let now = Instant::now();
        for lease in self.leases.values_mut() {
            lease.orphaned |= lease.expires + Duration::from_secs(5) < now;
        }
    }

    fn lease_of(&mut self, replica: &str, budget: usize) -> String {
        let own = |lease: &&Lease| lease.replica == replica && lease.budget == budget && !lease.orphaned;
        let found = self.leases.iter().find(|(_, lease)| own(lease)).map(|(id, _)| id.clone());
        found.unwrap_or_else(|| {
            self.next += 1;
            let id = format!("lease-{}", self.next);
            let lease = Lease {
                replica: replica.to_owned(),
                budget,
                granted: 0,
                returned: 0,
                expires: Instant::now(),
                orphaned: false,
            };
            self.leases.insert(id.clone(), lease);
            id
        })
    }

    fn acquire(&mut self, ask: &v1::AcquireLeasesRequest) -> Result<v1::AcquireLeasesResponse, Status> {
        self.expire();
        self.asked.push(ask.clone());
        let Some(tenant) = self.tenants.get(&ask.tenant_id).cloned() else {
            return Ok(v1::AcquireLeasesResponse { ttl: Some(duration_to_proto(TTL)), ..Default::default() });
        };
        let budgets: Vec<usize> =
            (0..self.budgets.len()).filter(|index| self.budgets[*index].tenant_id == ask.tenant_id).collect();
        for index in &budgets {
            if self.free(*index).max(0) < ask.needed_nano_eur {
                return Err(to_status(&exhausted(&self.budgets[*index], self.free(*index))));
            }
        }
        if let Some(failure) = self.short_of_a_rate(ask.needed_tokens) {
            return Err(to_status(&failure));
        }
        let mut leases = Vec::new();
        for index in budgets {
            let holders =
                self.leases.values().filter(|lease| lease.budget == index && !lease.orphaned).count();
            let limit = self.budgets[index].limit_nano_eur;
            let fair = self.free(index) / (2 * (holders as i64).max(1));
            let granted = ask.needed_nano_eur.max((limit / 100).min(EUR).min(fair));
            let id = self.lease_of(&ask.replica_id, index);
            let lease = self.leases.get_mut(&id).unwrap();
            lease.granted += granted;
            lease.expires = Instant::now() + TTL;
            leases.push(self.told(&id));
        }
        leases.extend(self.rates.iter().enumerate().map(|(index, rate)| v1::Lease {
            lease_id: format!("rate/{index}"),
            slice: Some(Slice::Rate(v1::RateSlice {
                granted_tokens: rate.granted_tokens.max(ask.needed_tokens),
                ..rate.clone()
            })),
            ttl: Some(duration_to_proto(self.ttl_of_rates)),
        }));
        Ok(v1::AcquireLeasesResponse { leases, tenant: Some(tenant), ttl: Some(duration_to_proto(TTL)) })
    }
}

impl World {
    fn short_of_a_rate(&self, tokens: u64) -> Option<Failure> {
        let most = self.rates.iter().filter_map(|rate| Some(rate.limit?.tokens_per_minute));
        if most.filter(|most| *most > 0).any(|most| tokens > most) {
            return Some(Failure::new(ErrorReason::RateLimited, "more than it ever has"));
        }
        let wait = Failure::new(ErrorReason::RateLimited, "used up for now");
        self.rates_used_up.then(|| Failure { retry_after: Some(Duration::from_secs(5)), ..wait })
    }
}

fn exhausted(budget: &v1::Budget, free: i64) -> Failure {
    let quota = Quota {
        violations: vec![QuotaViolation {
            subject: format!("tenant/{}/budget/{}", budget.tenant_id, budget.budget_id),
            description: "nothing is left".into(),
        }],
        left: [("available_nano_eur".to_owned(), free.max(0).to_string())].into(),
    };
    let failure = Failure::new(ErrorReason::BudgetExhausted, "the budget `monthly` cannot pay");
    Failure { quota: Some(Box::new(quota)), ..failure }
}

macro_rules! not_asked {
    ($($method:ident($request:ident) -> $response:ident;)*) => {
        #[tonic::async_trait]
        impl BudgetService for FakeBudgets {
            $(async fn $method(&self, _: Request<v1::$request>) -> Result<Response<v1::$response>, Status> {
                Err(Status::unimplemented(stringify!($method)))
            })*

            type WatchAdmissionStream = std::pin::Pin<
                Box<dyn tokio_stream::Stream<Item = Result<v1::WatchAdmissionResponse, Status>> + Send>,
            >;

            async fn watch_admission(
                &self,
                request: Request<v1::WatchAdmissionRequest>,
            ) -> Result<Response<Self::WatchAdmissionStream>, Status> {
                self.called("WatchAdmission").await?;
                let replica = request.into_inner().replica_id;
                let first = tokio_stream::once(Some((String::new(), self.heartbeat())));
                let rest = BroadcastStream::new(self.news.subscribe()).filter_map(Result::ok);
                let told = first.chain(rest).take_while(Option::is_some).filter_map(move |news| {
                    let (to, change) = news?;
                    let concerns = to.is_empty() || to == replica;
                    concerns.then_some(Ok(v1::WatchAdmissionResponse { change: Some(change) }))
                });
                Ok(Response::new(Box::pin(told)))
            }

            async fn resolve_api_key(
                &self,
                request: Request<v1::ResolveApiKeyRequest>,
            ) -> Result<Response<v1::ResolveApiKeyResponse>, Status> {
                self.called("ResolveApiKey").await?;
                let (request, world) = (request.into_inner(), self.world());
                let found = world.keys.get(&request.key_id);
                let found = found.filter(|(key, digest)| digest[..] == request.digest[..] && key.revoke_time.is_none());
                let Some((key, _)) = found else {
                    return Err(to_status(&Failure::new(ErrorReason::Unauthenticated, "wrong")));
                };
                Ok(Response::new(v1::ResolveApiKeyResponse {
                    api_key: Some(key.clone()),
                    tenant: world.tenants.get(&key.tenant_id).cloned(),
                    ttl: Some(duration_to_proto(TTL)),
                }))
            }

            async fn acquire_leases(
                &self,
                request: Request<v1::AcquireLeasesRequest>,
            ) -> Result<Response<v1::AcquireLeasesResponse>, Status> {
                self.called("AcquireLeases").await?;
                let ask = request.into_inner();
                if self.world().stuck == ask.tenant_id {
                    let message = "the rate limiter cannot be reached; try again";
                    return Err(to_status(&Failure::new(ErrorReason::Unavailable, message)));
                }
                let answer = self.world().acquire(&ask);
                if answer.is_err() {
                    self.recall();
                }
                answer.map(Response::new)
            }

            async fn renew_leases(
                &self,
                request: Request<v1::RenewLeasesRequest>,
            ) -> Result<Response<v1::RenewLeasesResponse>, Status> {
                self.called("RenewLeases").await?;
                let mut world = self.world();
                world.expire();
                let mut leases = Vec::new();
                for id in request.into_inner().lease_ids {
                    let Some(lease) = world.leases.get_mut(&id).filter(|lease| !lease.orphaned) else { continue };
                    lease.expires = Instant::now() + TTL;
                    leases.push(world.told(&id));
                }
                Ok(Response::new(v1::RenewLeasesResponse { leases }))
            }

            async fn return_leases(
                &self,
                request: Request<v1::ReturnLeasesRequest>,
            ) -> Result<Response<v1::ReturnLeasesResponse>, Status> {
                self.called("ReturnLeases").await?;
                let mut world = self.world();
                for back in request.into_inner().returns {
                    world.rate_returned += back.unused_requests;
                    if let Some(lease) = world.leases.get_mut(&back.lease_id) {
                        lease.returned += back.amount_nano_eur;
                    }
                }
                Ok(Response::new(v1::ReturnLeasesResponse {}))
            }
        }
    };
}

impl FakeBudgets {
    /// Calls all leases back.
    fn recall(&self) {
        let leases: Vec<(String, String)> =
            self.world().leases.iter().map(|(id, lease)| (lease.replica.clone(), id.clone())).collect();
        for (replica, lease_id) in leases {
            self.tell(&replica, Change::Recall(v1::LeaseRecall { lease_id, keep_nano_eur: 0 }));
        }
    }
}

not_asked! {
    create_tenant(CreateTenantRequest) -> CreateTenantResponse;
    get_tenant(GetTenantRequest) -> GetTenantResponse;
    list_tenants(ListTenantsRequest) -> ListTenantsResponse;
    update_tenant(UpdateTenantRequest) -> UpdateTenantResponse;
    create_api_key(CreateApiKeyRequest) -> CreateApiKeyResponse;
    list_api_keys(ListApiKeysRequest) -> ListApiKeysResponse;
    revoke_api_key(RevokeApiKeyRequest) -> RevokeApiKeyResponse;
    create_budget(CreateBudgetRequest) -> CreateBudgetResponse;
    get_budget(GetBudgetRequest) -> GetBudgetResponse;
    list_budgets(ListBudgetsRequest) -> ListBudgetsResponse;
    update_budget(UpdateBudgetRequest) -> UpdateBudgetResponse;
    top_up_budget(TopUpBudgetRequest) -> TopUpBudgetResponse;
    override_budget(OverrideBudgetRequest) -> OverrideBudgetResponse;
    forecast_budget(ForecastBudgetRequest) -> ForecastBudgetResponse;
    list_ledger_entries(ListLedgerEntriesRequest) -> ListLedgerEntriesResponse;
    reconcile_ledger(ReconcileLedgerRequest) -> ReconcileLedgerResponse;
    list_audit_entries(ListAuditEntriesRequest) -> ListAuditEntriesResponse;
    end_replica(EndReplicaRequest) -> EndReplicaResponse;
    reserve(ReserveRequest) -> ReserveResponse;
    settle(SettleRequest) -> SettleResponse;
}
