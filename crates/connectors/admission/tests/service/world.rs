//! The budget service over a ledger in a file, which can be killed and started again.

use http::{Request, Response};
use signalbox_admission::{Replica, Settings};
use signalbox_api::v1::{
    self, Budget, BudgetStatus, Settlement, Tenant, UsageCharge, budget::Period,
    budget_service_client::BudgetServiceClient,
};
use signalbox_budget::{Dependencies, Feed, Keeper, Options};
use signalbox_kit::{
    Clock, Hop, SystemClock,
    config::{ConfigHandle, Environment},
    hop,
};
use signalbox_ledger::SqlLedger;
use signalbox_ports::{Payer, ledger::Ledger as _};
use signalbox_rates::MemoryRates;
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::{Instant, SystemTime},
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tonic::{Status, body::Body};
use tower::{Service, ServiceExt as _};

pub(crate) const EUR: i64 = 1_000_000_000;
pub(crate) const CENT: i64 = EUR / 100;

/// The service, its ledger, and the way to it.
pub(crate) struct World {
    way: Switch,
    running: Mutex<CancellationToken>,
    dependencies: Dependencies,
    _dir: TempDir,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(Arc::new(SystemClock)).await
    }

    /// At a time as in `2026-11-30T12:00:00Z`, which goes on from there.
    pub(crate) async fn start_at(time: &str) -> Self {
        let time: prost_types::Timestamp = time.parse().unwrap();
        Self::with(Arc::new(Since(time.try_into().unwrap(), Instant::now()))).await
    }

    async fn with(clock: Arc<dyn Clock>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("ledger.db").display());
        let ledger = SqlLedger::with_clock(&url, clock.clone()).unwrap();
        ledger.migrate().await.unwrap();
        let ledger = Arc::new(ledger);
        let config = ConfigHandle::start(None, Environment::default(), clock.clone()).unwrap();
        let dependencies = Dependencies {
            config: Arc::new(config),
            tenants: ledger.clone(),
            ledger,
            rates: Arc::new(MemoryRates::new(clock.clone())),
            spent: None,
            feed: Feed::default(),
            clock,
            random: || [7; 40],
            options: Options::default(),
        };
        let world = Self { way: Switch::default(), running: Mutex::default(), dependencies, _dir: dir };
        world.begin();
        world
    }

    /// Serves, with nothing remembered from before.
    pub(crate) fn begin(&self) {
        let dependencies = Dependencies { feed: Feed::default(), ..self.dependencies.clone() };
        let stop = CancellationToken::new();
        tokio::spawn(Keeper::new(dependencies.clone()).run(stop.clone()));
        *self.running.lock().unwrap() = stop;
        self.way.set(Some(hop::local(signalbox_budget::server(dependencies, 4 << 20))));
    }

    /// Nobody answers any more, and streams break.
    pub(crate) fn kill(&self) {
        self.way.set(None);
        self.running.lock().unwrap().cancel();
    }

    pub(crate) fn hop(&self) -> Hop {
        Hop::new(self.way.clone())
    }

    pub(crate) fn client(&self) -> BudgetServiceClient<Hop> {
        BudgetServiceClient::new(self.hop())
    }

    /// The tenant `acme` with a monthly budget.
    pub(crate) async fn acme(&self, limit: i64) {
        self.acme_in("UTC", Period::Monthly, limit).await;
    }

    /// The same with another period, whose days begin at midnight in a time zone.
    pub(crate) async fn acme_in(&self, time_zone: &str, period: Period, limit: i64) {
        let tenant =
            Some(Tenant { tenant_id: "acme".into(), time_zone: time_zone.into(), ..Tenant::default() });
        self.client().create_tenant(v1::CreateTenantRequest { tenant }).await.unwrap();
        let budget = Some(Budget {
            budget_id: "monthly".into(),
            tenant_id: "acme".into(),
            period: period.into(),
            enforcement: v1::budget::Enforcement::Hard.into(),
            limit_nano_eur: limit,
            ..Budget::default()
        });
        self.client().create_budget(v1::CreateBudgetRequest { budget }).await.unwrap();
    }

    pub(crate) async fn status(&self) -> BudgetStatus {
        let request = v1::GetBudgetRequest { tenant_id: "acme".into(), budget_id: "monthly".into() };
        let answer = self.client().get_budget(request).await.unwrap().into_inner();
        answer.budget.unwrap().status.unwrap()
    }

    pub(crate) async fn settle(&self, request_id: &str, charges: &[UsageCharge], amount: i64) {
        let settlement = Settlement {
            settlement_id: request_id.to_owned(),
            request_id: request_id.to_owned(),
            charges: charges.to_vec(),
            amount_nano_eur: amount,
            tenant_id: "acme".into(),
            ..Settlement::default()
        };
        let request = v1::SettleRequest { settlements: vec![settlement] };
        assert!(self.client().settle(request).await.unwrap().into_inner().refusals.is_empty());
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        self.dependencies.clock.clone()
    }

    /// A replica that runs for as long as the test does.
    pub(crate) fn replica(&self, id: &str) -> Replica {
        let replica = Replica::new(self.hop(), id, self.clock(), Settings::default());
        let running = replica.clone();
        tokio::spawn(async move { running.run(CancellationToken::new()).await });
        replica
    }
}

/// A clock that began to go at a time.
#[derive(Debug)]
struct Since(SystemTime, Instant);

impl Clock for Since {
    fn now(&self) -> SystemTime {
        self.0 + self.1.elapsed()
    }
}

pub(crate) fn payer() -> Payer {
    Payer { tenant_id: "acme".into(), ..Payer::default() }
}

/// A way that leads somewhere, or nowhere.
#[derive(Clone, Default)]
struct Switch(Arc<Mutex<Option<Hop>>>);

impl Switch {
    fn set(&self, hop: Option<Hop>) {
        *self.0.lock().unwrap() = hop;
    }
}

impl Service<Request<Body>> for Switch {
    type Response = Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let hop = self.0.lock().unwrap().clone();
        Box::pin(async move {
            match hop {
                Some(hop) => hop.oneshot(request).await,
                None => Err(Status::unavailable("nobody listens")),
            }
        })
    }
}
