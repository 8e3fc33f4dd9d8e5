//! Everybody, running.

use super::crowd::{self, TENANT};
use serde_json::{Value, json};
use signalbox_api::v1::{
    Budget, BudgetStatus, CreateBudgetRequest, GetBudgetRequest, RateLimit, Tenant,
    budget::{Enforcement, Period},
    budget_effect::Outcome,
    budget_service_client::BudgetServiceClient,
    router_service_client::RouterServiceClient,
    tenant::FailureMode,
};
use signalbox_testkit::{
    Certificates, Fleet, FleetSize, Keyed, NatsServer, Options, Signalbox, Vendorsim, at_vendors, eventually,
    merge,
};
use std::{fmt, path::Path, time::Duration};
use tonic::Status;

pub(super) const BUDGET: &str = "monthly";
/// Every answer takes so long, so that there is always something under way.
const VENDOR_DELAY: Duration = Duration::from_millis(20);
/// Far more than is reached: Redis is asked, and refuses nobody.
const PER_MINUTE: u32 = 10_000_000;

/// Someone who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetVictim {
    /// A router.
    Router(usize),
    /// A process that keeps budgets.
    Budget(usize),
    /// Where they are kept.
    Postgres,
    /// Where rates are counted.
    Redis,
}

impl fmt::Display for BudgetVictim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Router(number) => write!(f, "router {number}"),
            Self::Budget(number) => write!(f, "budget {number}"),
            Self::Postgres => f.write_str("postgres"),
            Self::Redis => f.write_str("redis"),
        }
    }
}

/// Everybody. Killed when dropped.
pub(super) struct Field {
    pub(super) fleet: Fleet,
    pub(super) ingester: Signalbox,
    _nats: NatsServer,
    _vendors: Vendorsim,
}

impl Field {
    /// Starts them.
    pub(super) async fn start(size: FleetSize, dir: &Path) -> Result<Self, String> {
        let (nats, vendors) = (NatsServer::start().await, Vendorsim::serve(VENDOR_DELAY).await);
        let mut config = at_vendors(vendors.address());
        merge(
            &mut config,
            json!({
                "nats": {"servers": [nats.url()]},
                "heartbeat": {"enabled": false},
                "budgets": {"lease_ttl": "15s"},
                "usage": {"ingest": {"batch_interval": "100ms"}},
            }),
        );
        let mut certificates = Certificates::new();
        let ingester = ingester(dir, &config, certificates.issue("ingest")).await?;
        merge(&mut config, json!({"peers": {"ingest": [ingester.peer()]}}));
        let fleet = Fleet::start_among(certificates, size, &config).await;
        Ok(Self { fleet, ingester, _nats: nats, _vendors: vendors })
    }

    /// Adds the tenant, without a budget yet. What one request costs, in nano-EUR.
    pub(super) async fn measure(&self) -> Result<i64, String> {
        let rate = RateLimit {
            requests_per_minute: PER_MINUTE,
            concurrent_requests: PER_MINUTE,
            ..RateLimit::default()
        };
        let tenant = Tenant {
            tenant_id: TENANT.to_owned(),
            rate_limit: Some(rate),
            failure_mode: FailureMode::Open.into(),
            ..Tenant::default()
        };
        let operator = self.fleet.budgets.first().ok_or("there is no budget service")?;
        operator.add_tenant(Fleet::ADMIN_KEY, tenant).await;
        let router = self.routers().into_iter().next().ok_or("there is no router")?;
        let answer = RouterServiceClient::new(router).generate(crowd::one("measured")).await;
        let route = answer.map_err(told)?.into_inner().route.unwrap_or_default();
        Ok(route.total_cost.map_or(0, |cost| cost.nano_eur))
    }

    /// Adds the one budget, and waits until every router has heard of it.
    pub(super) async fn limit(&self, nano_eur: i64) -> Result<(), String> {
        let budget = Budget {
            tenant_id: TENANT.to_owned(),
            budget_id: BUDGET.to_owned(),
            period: Period::Prepaid.into(),
            enforcement: Enforcement::Hard.into(),
            limit_nano_eur: nano_eur,
            ..Budget::default()
        };
        let request = CreateBudgetRequest { budget: Some(budget) };
        self.budgets().create_budget(request).await.map_err(told)?;
        for router in self.routers() {
            eventually("the budget is known", || async {
                let answer = RouterServiceClient::new(router.clone()).generate(crowd::one("")).await;
                let effect = answer.ok().and_then(|answer| answer.into_inner().route?.budget);
                effect.is_some_and(|effect| effect.outcome() == Outcome::Admitted)
            })
            .await;
        }
        Ok(())
    }

    /// Where it stands.
    pub(super) async fn status(&self) -> Result<BudgetStatus, String> {
        let request = GetBudgetRequest { tenant_id: TENANT.to_owned(), budget_id: BUDGET.to_owned() };
        let answer = self.budgets().get_budget(request).await.map_err(told)?.into_inner();
        answer.budget.and_then(|budget| budget.status).ok_or_else(|| "no status".to_owned())
    }

    /// A client of the routers.
    pub(super) fn routers(&self) -> Vec<Keyed> {
        self.fleet.routers.iter().map(|router| router.keyed(Fleet::ADMIN_KEY)).collect()
    }

    /// A client of what operators ask.
    pub(super) fn budgets(&self) -> BudgetServiceClient<Keyed> {
        let [first, ..] = self.fleet.budgets.as_slice() else { unreachable!("there is a budget service") };
        first.budgets(Fleet::ADMIN_KEY)
    }

    /// Whom a strike may hit.
    pub(super) fn victims(&self) -> Vec<BudgetVictim> {
        let routers = (0..self.fleet.routers.len()).map(BudgetVictim::Router);
        let budgets = (0..self.fleet.budgets.len()).map(BudgetVictim::Budget);
        routers.chain(budgets).chain([BudgetVictim::Postgres, BudgetVictim::Redis]).collect()
    }

    pub(super) async fn kill(&mut self, victim: BudgetVictim) -> Result<(), String> {
        match victim {
            BudgetVictim::Router(number) => process(&mut self.fleet.routers, number)?.kill().await,
            BudgetVictim::Budget(number) => process(&mut self.fleet.budgets, number)?.kill().await,
            BudgetVictim::Postgres => self.fleet.postgres.kill().await,
            BudgetVictim::Redis => self.fleet.redis.kill().await,
        }
        Ok(())
    }

    pub(super) async fn revive(&mut self, victim: BudgetVictim) -> Result<(), String> {
        match victim {
            BudgetVictim::Router(number) => process(&mut self.fleet.routers, number)?.restart().await,
            BudgetVictim::Budget(number) => process(&mut self.fleet.budgets, number)?.restart().await,
            BudgetVictim::Postgres => self.fleet.postgres.restart().await,
            BudgetVictim::Redis => self.fleet.redis.restart().await,
        }
        Ok(())
    }

    /// Lets the routers drain and end.
    pub(super) async fn stop_routers(&mut self) {
        for router in &self.fleet.routers {
            router.terminate();
        }
        for router in &mut self.fleet.routers {
            router.ended().await;
        }
    }

    /// How often routers asked the budget services for leases since they were started last.
    pub(super) async fn questions(&self) -> f64 {
        let mut sum = 0.0;
        for router in &self.fleet.routers {
            let asked = [("method", "AcquireLeases")];
            sum += router.metrics().await.sum("signalbox_budget_calls_total", &asked);
        }
        sum
    }
}

async fn ingester(dir: &Path, config: &Value, own: Value) -> Result<Signalbox, String> {
    let file = dir.join("ingest.yaml");
    let mut config = config.clone();
    merge(&mut config, own);
    // JSON is YAML.
    std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    std::fs::write(&file, config.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    let env = vec![("SIGNALBOX_ADMIN_KEY".to_owned(), Fleet::ADMIN_KEY.to_owned())];
    let (config, internal_listen) = (Some(file), Some(Options::FREE));
    Ok(Signalbox::serve(Options { config, roles: "ingest", env, internal_listen, ..Options::default() })
        .await)
}

fn process(processes: &mut [Signalbox], number: usize) -> Result<&mut Signalbox, String> {
    processes.get_mut(number).ok_or_else(|| format!("there is no process {number}"))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn told(status: Status) -> String {
    format!("{}: {}", status.code(), status.message())
}
