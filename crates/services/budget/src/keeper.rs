//! What is done by itself. Every process that serves budgets does it, and it does no harm that all do.

use crate::{
    accounts::{Effect, Line, action},
    feed::{Away, Reader},
    metrics::{self, Tight},
    pruner::Pruner,
    service::Dependencies,
};
use signalbox_budgeting::threshold::Notice;
use signalbox_ports::{
    ledger::{LeaseState, Opening},
    tenants::Change,
};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Accounts that are read together.
const AT_ONCE: usize = 500;
/// How often replicas hear a heartbeat.
const BEAT: Duration = Duration::from_secs(1);

/// Tells replicas of changes, looks after leases that expire, sees thresholds being reached, and prunes the ledger.
#[derive(Debug)]
pub struct Keeper {
    dependencies: Dependencies,
    away: bool,
    tight: Tight,
}

impl Keeper {
    /// Of the service with these dependencies: they share the feed.
    pub fn new(dependencies: Dependencies) -> Self {
        Self { dependencies, away: false, tight: Tight::default() }
    }

    /// Works until it is stopped; then the watchers are sent home.
    pub async fn run(mut self, stop: CancellationToken) {
        let feed = self.dependencies.feed.clone();
        let mut reader = Reader::new(self.dependencies.clone());
        let mut poll = every(self.dependencies.options.poll);
        let mut sweep = every(self.dependencies.options.sweep);
        let reading = async {
            loop {
                poll.tick().await;
                reader.look().await;
            }
        };
        let mut beats = every(BEAT);
        let (beating_feed, blind_for) = (feed.clone(), self.dependencies.options.blind_for);
        let beating = async {
            loop {
                beats.tick().await;
                beating_feed.beat(blind_for);
            }
        };
        let pruning = Pruner::new(self.dependencies.clone()).run();
        let keeping = async {
            loop {
                sweep.tick().await;
                self.keep().await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = reading => {}
            () = beating => {}
            () = pruning => {}
            () = keeping => {}
        }
        feed.close();
    }

    /// One round.
    pub(crate) async fn keep(&mut self) {
        let round = self.round().await;
        metrics::store_away(round.is_err());
        match round {
            Ok(()) => self.away = false,
            Err(error) => {
                if !std::mem::replace(&mut self.away, true) {
                    tracing::warn!(%error, "leases and thresholds are not looked after");
                }
            }
        }
    }

    async fn round(&mut self) -> Result<(), Away> {
        // One that can only be read lends and settles nothing.
        self.dependencies.tenants.beat().await?;
        self.sweep().await?;
        let Dependencies { feed, ledger, clock, .. } = &self.dependencies;
        feed.set_replicas(ledger.replicas(clock.now()).await?);
        self.thresholds().await?;
        let uses = self.dependencies.feed.uses().take();
        if !uses.is_empty() {
            self.dependencies.tenants.keys_used(&uses).await?;
        }
        Ok(())
    }

    async fn sweep(&self) -> Result<(), Away> {
        let Dependencies { clock, options, ledger, .. } = &self.dependencies;
        let now = clock.now();
        let before = |time: Duration| now.checked_sub(time).unwrap_or(now);
        let swept = ledger.sweep(before(options.skew), before(options.write_off_after)).await?;
        for lease in &swept.orphaned {
            metrics::orphaned(lease.outstanding);
            told(
                lease,
                "a replica is lost: what is left of its lease is held until it is known what it spent",
            );
        }
        for lease in &swept.written_off {
            metrics::written_off(lease.outstanding);
            told(lease, "what a lost replica may have spent is booked as spent");
        }
        Ok(())
    }

    /// Announces budgets of which another threshold is in force than at the last look.
    async fn thresholds(&mut self) -> Result<(), Away> {
        let lines = self.lines().await?;
        let mut used = Vec::with_capacity(lines.len());
        for lines in lines.chunks(AT_ONCE) {
            let openings: Vec<Opening> = lines.iter().map(Line::opening).collect();
            let accounts = self.dependencies.ledger.accounts(&openings).await?;
            let now = self.dependencies.clock.now();
            for (line, account) in lines.iter().zip(&accounts) {
                used.push((line.name(), line.position(account, now).used_share));
                let look = self.dependencies.feed.active().look(line, account, now);
                look.notices.iter().for_each(|notice| told_operators(line, notice));
                if let Some(effect) = look.changed {
                    self.announce(line, &effect).await?;
                }
            }
        }
        self.tight.used(used);
        Ok(())
    }

    /// The budgets that replicas hold leases of.
    async fn lines(&self) -> Result<Vec<Line>, Away> {
        let Dependencies { tenants, clock, feed, .. } = &self.dependencies;
        let active = feed.active().list();
        let mut lines = Vec::new();
        for of_tenant in active.chunk_by(|one, other| one.0 == other.0) {
            let Some((tenant_id, _)) = of_tenant.first() else { continue };
            let Some(tenant) = tenants.tenant(tenant_id).await? else { continue };
            let budgets = tenants.budgets(tenant_id).await?;
            let held =
                budgets.into_iter().filter(|budget| of_tenant.iter().any(|(_, id)| *id == budget.budget_id));
            lines.extend(held.map(|budget| Line::new(&tenant, budget, clock.now())));
        }
        Ok(lines)
    }

    async fn announce(&self, line: &Line, effect: &Effect) -> Result<(), Away> {
        let (tenant_id, budget_id) = (line.budget.tenant_id.clone(), line.budget.budget_id.clone());
        let Effect { threshold, action, .. } = effect;
        tracing::info!(
            tenant_id,
            budget_id,
            threshold,
            action = action.as_str_name(),
            "another threshold is in force"
        );
        self.dependencies.tenants.announce(&Change::Budget { tenant_id, budget_id }).await?;
        Ok(())
    }
}

/// Once a period and level, by this process.
fn told_operators(line: &Line, notice: &Notice) {
    let action = action(notice.effect);
    metrics::threshold(action);
    let Line { budget, running } = line;
    let (tenant_id, budget_id, used_share) = (&budget.tenant_id, &budget.budget_id, notice.used_share);
    let (period, action) = (&running.id, action.as_str_name());
    tracing::warn!(tenant_id, budget_id, period, used_share, action, "a threshold of the budget is reached");
}

fn told(lease: &LeaseState, what: &str) {
    let LeaseState { lease_id, account, replica_id, outstanding, .. } = lease;
    let (tenant_id, budget_id) = (&account.tenant_id, &account.budget_id);
    tracing::warn!(lease_id, replica_id, tenant_id, budget_id, nano_eur = outstanding, "{what}");
}

pub(crate) fn every(time: Duration) -> tokio::time::Interval {
    let mut ticks = interval(time);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
