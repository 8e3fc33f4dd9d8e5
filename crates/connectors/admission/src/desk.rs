//! One tenant's desk: what this replica knows of the tenant, and what it holds for it.
//!
//! Everything is behind one mutex that is held for a few hundred nanoseconds, and never while something is awaited.

use crate::{
    ask::Unmet,
    calls::Why,
    flights::Flights,
    rates::Rates,
    views::{BudgetView, Falls},
};
use signalbox_api::{
    convert::duration_from_proto,
    v1::{self, lease::Slice},
};
use signalbox_budgeting::{
    slice::SliceRules,
    wallet::{Grant, Wallet},
};
use signalbox_ports::Payer;
use signalbox_types::Money;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// How long an answer holds that does not say.
const DEFAULT_TTL: Duration = Duration::from_secs(60);
/// A lease that ends so close to its period's end ends with it.
const SAME_END: Duration = Duration::from_millis(500);
/// With more payers than so many, those that nobody waits for are asked for anew.
const MANY_PAYERS: usize = 4_096;

/// A tenant's desk.
#[derive(Debug)]
pub(crate) struct Desk {
    state: Mutex<State>,
    pub(crate) asking: Flights<Payer, Result<(), Unmet>>,
}

/// What is known and held.
#[derive(Debug)]
pub(crate) struct State {
    /// Whether the service ever said anything of it.
    pub(crate) known: bool,
    /// `None` where it is not in the tenant store.
    pub(crate) tenant: Option<Arc<v1::Tenant>>,
    pub(crate) wallet: Wallet,
    pub(crate) budgets: HashMap<Arc<str>, BudgetView>,
    pub(crate) rates: Rates,
    pub(crate) payers: HashMap<Payer, Falls>,
    pub(crate) slices: SliceRules,
    /// Counts what was heard of changes: an answer that was asked for before one may be out of date.
    pub(crate) heard: u64,
    /// The last question came to nothing; until then asking again would only cost time.
    pub(crate) unanswered_until: Option<(Instant, Why)>,
    /// When leases are to be renewed; `None` without any.
    pub(crate) renew_at: Option<Instant>,
    used_at: Instant,
}

/// When a question was asked, and by which knowledge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    pub(crate) wall: SystemTime,
    /// Replicas that admit requests.
    pub(crate) replicas: u32,
    pub(crate) heard: u64,
}

impl Desk {
    pub(crate) fn new(slices: SliceRules) -> Self {
        let state = State {
            known: false,
            tenant: None,
            wallet: Wallet::new(),
            budgets: HashMap::new(),
            rates: Rates::default(),
            payers: HashMap::new(),
            slices,
            heard: 0,
            unanswered_until: None,
            renew_at: None,
            used_at: Instant::now(),
        };
        Self { state: Mutex::new(state), asking: Flights::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The leases that a payer was granted, with all that the answer says beside.
    pub(crate) fn granted(&mut self, payer: &Payer, answer: v1::AcquireLeasesResponse, asked: Asked) {
        let ttl = answer.ttl.and_then(duration_from_proto).unwrap_or(DEFAULT_TTL);
        let priority = priority(answer.tenant.as_ref(), &payer.scene);
        let (mut budgets, mut rates) = (Vec::new(), Vec::new());
        for lease in &answer.leases {
            match &lease.slice {
                Some(Slice::Budget(slice)) => budgets.extend(self.take_budget(lease, slice, asked)),
                Some(Slice::Rate(slice)) => rates.push(self.take_rate(lease, slice, priority, asked)),
                None => {}
            }
        }
        self.known = true;
        self.rates.replicas = asked.replicas;
        self.tenant = answer.tenant.map(Arc::new);
        let is_unlimited = budgets.is_empty() && rates.is_empty();
        let stale = self.heard != asked.heard;
        let falls = self.falls(payer);
        falls.until = is_unlimited.then(|| asked.at + ttl);
        falls.stale = stale;
        (falls.known, falls.priority, falls.budgets, falls.rates) = (true, priority, budgets, rates);
        falls.refused = None;
    }

    /// A lease lives on.
    pub(crate) fn renewed(&mut self, lease: &v1::Lease, asked: Asked) {
        match &lease.slice {
            Some(Slice::Budget(slice)) => {
                self.take_budget(lease, slice, asked);
            }
            Some(Slice::Rate(slice)) => {
                let ttl = lease.ttl.and_then(duration_from_proto).unwrap_or(DEFAULT_TTL);
                self.renew_by(asked.at + ttl / 3);
                self.rates.renewed(lease, slice, asked.at, ttl);
            }
            None => {}
        }
    }

    fn take_budget(&mut self, lease: &v1::Lease, slice: &v1::BudgetSlice, asked: Asked) -> Option<Arc<str>> {
        let budget = slice.budget.as_ref()?;
        let ttl = lease.ttl.and_then(duration_from_proto)?;
        let view = BudgetView::of(budget, asked.at);
        let ends_with_period = ends_with_period(budget, asked.wall, ttl);
        let grant = Grant {
            lease_id: &lease.lease_id,
            budget_id: &budget.budget_id,
            period_id: &slice.period_id,
            granted: Money::from_nano_eur(slice.granted_nano_eur),
            slice: Money::from_nano_eur(self.slices.slice(view.limit)),
            asked_at: asked.at.into_std(),
            ttl,
            ends_with_period,
        };
        self.wallet.grant(&grant, Instant::now().into_std());
        if !ends_with_period {
            self.renew_by(asked.at + ttl / 3);
        }
        Some(self.know(budget, view))
    }

    fn take_rate(&mut self, lease: &v1::Lease, slice: &v1::RateSlice, priority: i32, asked: Asked) -> usize {
        let ttl = lease.ttl.and_then(duration_from_proto).unwrap_or(DEFAULT_TTL);
        self.renew_by(asked.at + ttl / 3);
        self.rates.granted(lease, slice, priority, asked.at, ttl)
    }

    fn renew_by(&mut self, time: Instant) {
        self.renew_at = Some(self.renew_at.map_or(time, |at| at.min(time)));
    }

    /// The budget's id, after what is newly known of it is kept.
    fn know(&mut self, budget: &v1::Budget, view: BudgetView) -> Arc<str> {
        if let Some((id, known)) = self.budgets.get_key_value(budget.budget_id.as_str()) {
            let (id, is_older) = (id.clone(), view.is_older_than(known));
            if !is_older {
                self.budgets.insert(id.clone(), view);
            }
            return id;
        }
        let id: Arc<str> = budget.budget_id.as_str().into();
        self.budgets.insert(id.clone(), view);
        id
    }

    /// What a payer falls under; nothing is known of it at first.
    pub(crate) fn falls(&mut self, payer: &Payer) -> &mut Falls {
        if self.payers.len() >= MANY_PAYERS && !self.payers.contains_key(payer) {
            self.payers.retain(|_, falls| falls.is_waited_for());
        }
        self.payers.entry(payer.clone()).or_default()
    }

    pub(crate) fn used(&mut self, now: Instant) {
        self.used_at = now;
    }

    pub(crate) fn is_unused(&self, time: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.used_at) >= time
    }

    pub(crate) fn holds_something(&self) -> bool {
        !self.wallet.is_empty() || !self.rates.is_idle()
    }

    pub(crate) fn tenant_changed(&mut self, tenant: v1::Tenant) {
        self.tenant = Some(Arc::new(tenant));
        self.forget_falls();
    }

    /// Another limit or threshold is in force; or there is a budget that nobody here has heard of.
    pub(crate) fn budget_changed(&mut self, budget: &v1::Budget, now: Instant) {
        let is_known = self.budgets.contains_key(budget.budget_id.as_str());
        if is_known && budget.status.is_some() {
            self.know(budget, BudgetView::of(budget, now));
        } else {
            self.forget_falls();
        }
    }

    /// Changes are not heard of any more, so all that is known may be out of date. What is held is not.
    pub(crate) fn unheard(&mut self) {
        self.forget_falls();
    }

    fn forget_falls(&mut self) {
        self.heard += 1;
        self.payers.values_mut().for_each(|falls| falls.stale = true);
    }
}

/// The priority of a scene's requests; 0 for the ordinary.
fn priority(tenant: Option<&v1::Tenant>, scene: &str) -> i32 {
    let scenes = tenant.map(|tenant| tenant.scenes.as_slice()).unwrap_or_default();
    scenes.iter().find(|policy| policy.scene == scene).map_or(0, |policy| policy.priority)
}

fn ends_with_period(budget: &v1::Budget, asked: SystemTime, ttl: Duration) -> bool {
    let end = budget.status.as_ref().and_then(|status| status.period_end_time);
    let end: Option<SystemTime> = end.and_then(|end| end.try_into().ok());
    end.is_some_and(|end| end <= asked + ttl + SAME_END)
}
