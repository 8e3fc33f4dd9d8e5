//! Signalbox with a budget service that keeps the books of a tenant, as one process or as a fleet with PostgreSQL,
//! Redis, NATS and an ingester.

use serde_json::{Value, json};
use signalbox_api::{
    status::{detail, from_status},
    v1::{
        self, Budget, BudgetStatus, GenerateRequest, GenerateResponse, StreamGenerateResponse, Tenant,
        UsageCharge, UsageEvent,
        budget::{Action, Enforcement, Period, Threshold},
        budget_service_client::BudgetServiceClient,
        router_service_client::RouterServiceClient,
    },
};
use signalbox_testkit::{
    Certificates, Deployment, Fleet, FleetSize, KEYS, Keyed, NatsServer, Options, Signalbox, Topology, ask,
    at_simulator, built, eventually, eventually_some, merge, own,
};
use signalbox_vendorsim::{Fault, Match, RecordedRequest, Simulator, Times, Vendor};
use tempfile::TempDir;
use tonic::{Code, Response, Status, Streaming};

pub(crate) const LUNA: &str = "openai/gpt-6-luna";
pub(crate) const BUDGET: &str = "monthly";
pub(crate) const EUR: i64 = 1_000_000_000;

/// The tenant whose books are kept.
pub(crate) fn acme() -> String {
    own("acme")
}

/// Signalbox, and the vendors that it calls.
pub(crate) struct Bank {
    pub(crate) vendors: Simulator,
    pub(crate) shape: Shape,
    _files: TempDir,
}

pub(crate) enum Shape {
    Whole(Box<Signalbox>),
    Fleet { fleet: Box<Fleet>, _ingester: Box<Signalbox>, _nats: Box<NatsServer> },
    Up { system: Box<Deployment>, router: Box<Signalbox>, books: Box<Signalbox> },
}

impl Bank {
    /// A bank whose tenant has no budgets yet.
    pub(crate) async fn open(topology: Topology, config: Value) -> Self {
        match topology {
            Topology::AllInOne => Self::whole(config).await,
            Topology::Remote => Self::fleet(FleetSize { routers: 1, budgets: 1 }, config).await,
            Topology::Up => Self::up(config).await,
        }
    }

    /// A bank whose tenant has one hard budget, by the month.
    pub(crate) async fn with_limit(topology: Topology, limit: i64) -> Self {
        let bank = Self::open(topology, json!({})).await;
        bank.add(budget(limit)).await;
        bank
    }

    async fn whole(change: Value) -> Self {
        let (vendors, config) = common(change).await;
        let files = tempfile::tempdir().unwrap();
        let options =
            Options { config: Some(written(&files, "whole", &config)), env: env(), ..Options::default() };
        let process = Signalbox::serve(options).await;
        Self::new(vendors, Shape::Whole(Box::new(process)), files).await
    }

    async fn up(change: Value) -> Self {
        let ((vendors, config), env) = (common(change).await, env());
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (&**name, &**value)).collect();
        let system = Box::new(Deployment::start(Topology::Up, &config, &env).await);
        let [router, books] = ["router-1", "budget-1"].map(|name| Box::new(system.part(name)));
        Self::new(vendors, Shape::Up { system, router, books }, tempfile::tempdir().unwrap()).await
    }

    pub(crate) async fn fleet(size: FleetSize, change: Value) -> Self {
        let (vendors, mut config) = common(change).await;
        let (files, nats) = (tempfile::tempdir().unwrap(), NatsServer::start().await);
        merge(&mut config, json!({"nats": {"servers": [nats.url()]}}));
        let mut certificates = Certificates::new();
        let mut own = config.clone();
        merge(&mut own, certificates.issue("ingest"));
        let ingester = Signalbox::serve(Options {
            config: Some(written(&files, "ingest", &own)),
            roles: "ingest",
            env: env(),
            internal_listen: Some(Options::FREE),
            ..Options::default()
        });
        let ingester = ingester.await;
        merge(&mut config, json!({"peers": {"ingest": [ingester.peer()]}}));
        let fleet = Box::new(Fleet::start_among(certificates, size, &config).await);
        let shape = Shape::Fleet { fleet, _ingester: Box::new(ingester), _nats: Box::new(nats) };
        Self::new(vendors, shape, files).await
    }

    async fn new(vendors: Simulator, shape: Shape, files: TempDir) -> Self {
        let bank = Self { vendors, shape, _files: files };
        bank.books().add_tenant(Fleet::ADMIN_KEY, tenant(&acme())).await;
        bank
    }

    /// The routers.
    pub(crate) fn routers(&self) -> &[Signalbox] {
        match &self.shape {
            Shape::Whole(process) | Shape::Up { router: process, .. } => std::slice::from_ref(process),
            Shape::Fleet { fleet, .. } => &fleet.routers,
        }
    }

    /// The first router, to end it and start it again.
    pub(crate) fn router_mut(&mut self) -> &mut Signalbox {
        match &mut self.shape {
            Shape::Whole(process) | Shape::Up { router: process, .. } => process,
            Shape::Fleet { fleet, .. } => fleet.routers.first_mut().unwrap(),
        }
    }

    /// The fleet, to kill parts of it.
    pub(crate) fn parts(&mut self) -> &mut Fleet {
        match &mut self.shape {
            Shape::Fleet { fleet, .. } => fleet,
            _ => panic!("it is no fleet of this test's own"),
        }
    }

    /// A process that keeps budgets.
    pub(crate) fn books(&self) -> &Signalbox {
        match &self.shape {
            Shape::Whole(process) | Shape::Up { books: process, .. } => process,
            Shape::Fleet { fleet, .. } => fleet.budgets.first().unwrap(),
        }
    }

    /// A client of tenants, keys and budgets.
    pub(crate) fn budgets(&self) -> BudgetServiceClient<Keyed> {
        self.books().budgets(Fleet::ADMIN_KEY)
    }

    /// Changes the tenant.
    pub(crate) async fn limit(&self, change: Tenant) {
        let request = v1::UpdateTenantRequest { tenant: Some(change), update_mask: None };
        self.budgets().update_tenant(request).await.unwrap();
    }

    pub(crate) async fn add(&self, budget: Budget) -> Budget {
        let made = self.budgets().create_budget(v1::CreateBudgetRequest { budget: Some(budget) }).await;
        made.unwrap().into_inner().budget.unwrap()
    }

    /// Asks the first router, on behalf of the tenant.
    pub(crate) async fn ask(&self, request: GenerateRequest) -> Result<GenerateResponse, Status> {
        self.ask_at(0, Fleet::ADMIN_KEY, request).await.map(Response::into_inner)
    }

    /// Asks a router with a key.
    pub(crate) async fn ask_at(
        &self,
        router: usize,
        key: &str,
        request: GenerateRequest,
    ) -> Result<Response<GenerateResponse>, Status> {
        RouterServiceClient::new(self.routers()[router].keyed(key)).generate(request).await
    }

    pub(crate) async fn stream(
        &self,
        request: GenerateRequest,
    ) -> Result<Streaming<StreamGenerateResponse>, Status> {
        let mut client = RouterServiceClient::new(self.routers()[0].keyed(Fleet::ADMIN_KEY));
        let request = v1::StreamGenerateRequest { request: Some(request) };
        client.stream_generate(request).await.map(Response::into_inner)
    }

    /// Lets a fault strike every call to a vendor from now on.
    pub(crate) fn fault(&self, vendor: Vendor, fault: &str) {
        self.vendors.clear_faults();
        self.vendors.set_fault(Match::vendor(vendor), Fault::parse(fault).unwrap(), Times::Always);
    }

    pub(crate) fn calls(&self, vendor: Vendor) -> Vec<RecordedRequest> {
        self.vendors.requests().into_iter().filter(|request| request.vendor == vendor).collect()
    }

    /// The one account of a request.
    pub(crate) async fn account(&self, id: &str) -> UsageEvent {
        let accounts = || async {
            match &self.shape {
                Shape::Up { system, .. } => system.accounts().await,
                _ => self.routers().iter().flat_map(Signalbox::accounts).collect(),
            }
        };
        eventually_some("the request is accounted for", || async {
            accounts().await.into_iter().find(|event| event.request_id == id)
        })
        .await
    }

    /// Where a budget stands now.
    pub(crate) async fn status(&self, budget_id: &str) -> BudgetStatus {
        let request = v1::GetBudgetRequest { tenant_id: acme(), budget_id: budget_id.into() };
        let budget = self.budgets().get_budget(request).await.unwrap().into_inner().budget.unwrap();
        let status = budget.status.unwrap();
        let BudgetStatus { free_nano_eur, leased_nano_eur, reserved_nano_eur, settled_nano_eur, .. } = status;
        let whole = free_nano_eur + leased_nano_eur + reserved_nano_eur + settled_nano_eur;
        assert_eq!(whole, status.limit_nano_eur, "{status:?}");
        status
    }

    /// Waits until so much is settled, no more and no less.
    pub(crate) async fn settled(&self, budget_id: &str, nano_eur: i64) {
        eventually(&format!("{nano_eur} are settled in `{budget_id}`"), || async {
            self.status(budget_id).await.settled_nano_eur == nano_eur
        })
        .await;
    }

    /// The entries of one request in the ledger that move money for good.
    pub(crate) async fn settlements(&self, request_id: &str) -> Vec<v1::LedgerEntry> {
        let request = v1::ListLedgerEntriesRequest {
            tenant_id: acme(),
            request_id: request_id.into(),
            kinds: vec![v1::ledger_entry::Kind::Settle.into()],
            ..Default::default()
        };
        self.budgets().list_ledger_entries(request).await.unwrap().into_inner().entries
    }

    /// What `signalbox` says, as an operator calls it.
    pub(crate) async fn command(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = tokio::process::Command::new(built("signalbox"));
        command.args(arguments).env_clear().env("SIGNALBOX_API_KEY", Fleet::ADMIN_KEY);
        command.env("SIGNALBOX_SERVER", format!("http://{}", self.books().address()));
        let output = command.output().await.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    /// Ledger and usage store have so many requests of the tenant, and the same of each.
    pub(crate) async fn agrees(&self, requests: u64) {
        let request = v1::GetTenantRequest { tenant_id: acme() };
        let tenant = self.budgets().get_tenant(request).await.unwrap().into_inner().tenant.unwrap();
        let made = tenant.create_time.unwrap().seconds;
        let around = |seconds: i64| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let told = eventually_some("ledger and usage store agree", || async {
            let request = v1::ReconcileLedgerRequest {
                tenant_id: acme(),
                start_time: around(made - 60),
                end_time: around(made + 3600),
                ..Default::default()
            };
            let told = self.budgets().reconcile_ledger(request).await.unwrap().into_inner();
            (told.differences.is_empty() && told.requests >= requests).then_some(told)
        })
        .await;
        assert_eq!((told.requests, told.ledger_nano_eur), (requests, told.usage_nano_eur), "{told:?}");
    }
}

/// The simulated vendors, and a configuration that leads to them.
async fn common(change: Value) -> (Simulator, Value) {
    let vendors = Simulator::builder().keep_requests(4096).bind("127.0.0.1:0").await.unwrap();
    let mut config = at_simulator(&vendors);
    merge(
        &mut config,
        json!({
            "routing": {"order": "listed"},
            "failover": {"quick_retry_delay": "10ms"},
            "usage": {"ingest": {"batch_interval": "50ms"}},
        }),
    );
    merge(&mut config, change);
    (vendors, config)
}

fn written(files: &TempDir, name: &str, config: &Value) -> std::path::PathBuf {
    let file = files.path().join(format!("{name}.yaml"));
    // JSON is YAML.
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

fn env() -> Vec<(String, String)> {
    let own = [("SIGNALBOX_ADMIN_KEY", Fleet::ADMIN_KEY)];
    KEYS.iter().chain(&own).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

pub(crate) fn tenant(id: &str) -> Tenant {
    Tenant { tenant_id: id.to_owned(), ..Tenant::default() }
}

/// A hard budget, by the month.
pub(crate) fn budget(limit: i64) -> Budget {
    Budget {
        budget_id: BUDGET.to_owned(),
        tenant_id: acme(),
        period: Period::Monthly.into(),
        limit_nano_eur: limit,
        enforcement: Enforcement::Hard.into(),
        ..Budget::default()
    }
}

pub(crate) fn at(used_share: f64, action: Action, tier: v1::Tier) -> Threshold {
    Threshold { used_share, action: action.into(), tier: tier.into(), ..Threshold::default() }
}

/// A request of at most 100 tokens, of the tenant.
pub(crate) fn short(model: &str) -> GenerateRequest {
    GenerateRequest { max_output_tokens: Some(100), ..unbounded(model) }
}

/// A request that does not say how long its answer may be.
pub(crate) fn unbounded(model: &str) -> GenerateRequest {
    GenerateRequest { tenant_id: acme(), ..ask::request(model, "Why is the sky blue?") }
}

/// A request that can be found again.
pub(crate) fn named(id: &str, request: GenerateRequest) -> GenerateRequest {
    GenerateRequest { request_id: id.to_owned(), ..request }
}

/// The one charge of an account.
pub(crate) fn charge(event: &UsageEvent) -> &UsageCharge {
    assert_eq!(event.charges.len(), 1, "{event:?}");
    event.charges.first().unwrap()
}

pub(crate) fn cost(event: &UsageEvent) -> i64 {
    event.cost.as_ref().unwrap().nano_eur
}

/// What one request like this is reserved at and costs, by a bank with much money.
pub(crate) async fn measured(request: GenerateRequest) -> (i64, i64) {
    let bank = Bank::with_limit(Topology::AllInOne, 1000 * EUR).await;
    bank.ask(named("measured", request)).await.unwrap();
    let event = bank.account("measured").await;
    (charge(&event).reserved_nano_eur, cost(&event))
}

/// A budget refused, and says which one it was.
pub(crate) fn is_exhausted(status: &Status, budget_id: &str) {
    let failure = from_status(status);
    assert_eq!(
        (status.code(), failure.reason.name()),
        (Code::ResourceExhausted, "BUDGET_EXHAUSTED"),
        "{failure:?}"
    );
    assert!(failure.message.contains(budget_id), "{failure:?}");
    let quota = failure.quota.unwrap_or_else(|| panic!("no QuotaFailure: {status:?}"));
    let subjects: Vec<_> = quota.violations.iter().map(|violation| violation.subject.as_str()).collect();
    assert_eq!(subjects, [format!("tenant/{}/budget/{budget_id}", acme())]);
    let route = detail::<v1::RouteFailure>(status).unwrap_or_default();
    assert!(route.attempts.is_empty(), "nobody was called: {route:?}");
}
