//! The replica against a budget service that does as it is told, in paused time.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

mod away;
mod fake;
mod keys;
mod money;
mod rates;

use fake::FakeBudgets;
use signalbox_admission::{Replica, Settings};
use signalbox_api::v1::{self, budget_service_server::BudgetServiceServer};
use signalbox_kit::{FixedClock, hop};
use signalbox_ports::{Admission, Payer, Reservation, Short, Worst};
use signalbox_types::Money;
use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use tokio_util::sync::CancellationToken;

/// A replica that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) replica: Replica,
    stop: CancellationToken,
}

impl Running {
    pub(crate) async fn new(fake: &FakeBudgets, id: &str) -> Self {
        Self::with(fake, id, Settings::default()).await
    }

    pub(crate) async fn with(fake: &FakeBudgets, id: &str, settings: Settings) -> Self {
        let hop = hop::local(BudgetServiceServer::new(fake.clone()));
        let clock = Arc::new(FixedClock(UNIX_EPOCH + Duration::from_secs(1_795_000_000)));
        let replica = Replica::new(hop, id, clock, settings);
        let stop = CancellationToken::new();
        let (running, stopped) = (replica.clone(), stop.clone());
        tokio::spawn(async move { running.run(stopped).await });
        pass(Duration::from_millis(10)).await;
        Self { replica, stop }
    }

    pub(crate) async fn reserve(&self, amount: i64) -> Result<Box<dyn Reservation>, Short> {
        self.replica.reserve(&payer(), worst(amount)).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) fn payer() -> Payer {
    Payer { tenant_id: "acme".into(), ..Payer::default() }
}

pub(crate) fn worst(amount: i64) -> Worst {
    Worst { cost: Money::from_nano_eur(amount), tokens: 100 }
}

pub(crate) fn acme() -> v1::Tenant {
    v1::Tenant { tenant_id: "acme".into(), ..Default::default() }
}

/// A service with the tenant `acme` and a monthly budget.
pub(crate) fn with_limit(limit: i64) -> FakeBudgets {
    let fake = FakeBudgets::new();
    fake.with_budget(acme(), limit);
    fake
}

pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}
