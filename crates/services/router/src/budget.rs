//! What budgets and rates leave for a request, and what is taken from them before the first vendor call.

mod named;
mod rules;
mod taken;

pub(crate) use rules::TenantRules;
pub(crate) use taken::Taken;

use crate::{
    account::Account,
    admission::Admitted,
    metrics,
    plan::{self, Planned, Refused},
    service::Dependencies,
};
use signalbox_api::v1::{BudgetEffect, budget_effect::Outcome};
use signalbox_kit::catalog::Catalog;
use signalbox_ports::{Payer, Reservation, Short, SpendLimit, Standing, Worst};
use signalbox_routing::Exclusion;
use signalbox_types::{ErrorReason, Failure, Lane, ModelRef, Money, Tier};

/// Plans that are made at most: each with what is left then, for others take from it at the same time. The last is made
/// with nothing, for nobody is quicker to spend that.
const TRIES: usize = 4;

/// What budgets and the tenant's own rules leave for a request. The default is no limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct BudgetState {
    /// Something is counted, so that it matters what the request can use at most.
    pub(crate) counted: bool,
    /// The tiers that are open, dearest first; empty for any, also none.
    pub(crate) tiers: Vec<Tier>,
    /// The most that the request may cost.
    pub(crate) allowance: Option<Money>,
    /// Which threshold acts, as in `monthly 90%`; empty for none.
    pub(crate) threshold: String,
    /// What the tenant may use at all.
    pub(crate) rules: TenantRules,
}

impl BudgetState {
    fn of(standing: &Standing, rules: TenantRules) -> Self {
        let allowance = match standing.limit {
            SpendLimit::FreeOnly => Some(Money::ZERO),
            _ => standing.allowance,
        };
        Self {
            counted: true,
            tiers: standing.tiers.clone(),
            allowance,
            threshold: standing.effect.threshold.clone(),
            rules,
        }
    }

    /// What a call of a model costs at most, if it may be made.
    pub(crate) fn pays(&self, model: &ModelRef, ceiling: Option<Money>) -> Result<Money, Failure> {
        let why = match (ceiling, self.allowance) {
            (Some(ceiling), Some(allowance)) if ceiling > allowance => {
                Exclusion::TooDear { ceiling, allowance }
            }
            (None, _) if self.needs_prices() => Exclusion::PriceUnknown,
            _ => return Ok(ceiling.unwrap_or_default()),
        };
        Err(Failure::new(ErrorReason::BudgetExhausted, format!("{model} {why}")))
    }

    /// Whether the cost of every model must be known.
    pub(crate) fn needs_prices(&self) -> bool {
        self.allowance.is_some() || self.rules.known_price
    }
}

/// Who pays for a request, and how they stand.
#[derive(Debug)]
pub(crate) struct Purse {
    payer: Payer,
    standing: Standing,
}

impl Purse {
    /// Looks what is left to a payer; `None` where nothing is counted.
    async fn look(
        dependencies: &Dependencies,
        payer: impl FnOnce() -> Payer,
    ) -> Result<Option<Box<Self>>, Failure> {
        if dependencies.admission.is_unlimited() {
            return Ok(None);
        }
        let payer = payer();
        let standing = dependencies.admission.standing(&payer).await?;
        Ok(is_any(&standing).then(|| Box::new(Self { payer, standing })))
    }

    /// Looks what is left for a request and holds it to that: the tenant's rules and defaults are applied.
    pub(crate) async fn open(
        dependencies: &Dependencies,
        catalog: &Catalog,
        admitted: &mut Admitted,
    ) -> Result<Option<Box<Self>>, Failure> {
        let payer = || Payer {
            tenant_id: admitted.request.tenant_id.clone(),
            key_id: admitted.key_id.clone(),
            scene: admitted.request.scene.clone(),
        };
        let purse = Self::look(dependencies, payer).await?;
        let tenant = purse.as_ref().and_then(|purse| purse.standing.tenant.as_deref());
        admitted.default_to(tenant);
        if let Some(purse) = &purse {
            let request = &admitted.request;
            let rules =
                TenantRules::of(tenant, catalog, &request.tenant_id, &request.task_type, &request.scene);
            admitted.budget = BudgetState::of(&purse.standing, rules);
        }
        Ok(purse)
    }

    /// The same for a request for vectors.
    pub(crate) async fn open_for_vectors(
        dependencies: &Dependencies,
        catalog: &Catalog,
        payer: impl FnOnce() -> Payer,
    ) -> Result<(Option<Box<Self>>, BudgetState), Failure> {
        let Some(purse) = Self::look(dependencies, payer).await? else {
            return Ok((None, BudgetState::default()));
        };
        let Payer { tenant_id, scene, .. } = &purse.payer;
        let rules = TenantRules::of(purse.standing.tenant.as_deref(), catalog, tenant_id, "", scene);
        let budget = BudgetState::of(&purse.standing, rules);
        Ok((Some(purse), budget))
    }

    /// What budgets say of the payer before anything is taken.
    pub(crate) fn effect(&self) -> &BudgetEffect {
        &self.standing.effect
    }

    /// Whether there may be an answer at all, be it from the cache.
    pub(crate) fn allows_answers(&self) -> Result<(), Failure> {
        match self.standing.limit {
            SpendLimit::Refuse => Err(self.used_up("it pays for nothing more")),
            SpendLimit::None | SpendLimit::FreeOnly | SpendLimit::CacheOrBatchOnly => Ok(()),
        }
    }

    /// Whether a vendor may be called at all.
    pub(crate) fn allows_calls(&self) -> Result<(), Failure> {
        match self.standing.limit {
            SpendLimit::CacheOrBatchOnly => Err(self.used_up(
                "it pays for answers that were given before and for the batch lane only, and there is no such answer",
            )),
            _ => self.allows_answers(),
        }
    }

    /// Whether a request may be made in a lane.
    pub(crate) fn allows(&self, lane: Lane) -> Result<(), Failure> {
        match lane {
            Lane::Interactive => self.allows_calls(),
            Lane::Batch => self.allows_answers(),
        }
    }

    /// Whether no call may cost anything, however little.
    pub(crate) fn pays_nothing(&self) -> bool {
        self.standing.limit != SpendLimit::None
    }

    fn used_up(&self, rest: &str) -> Failure {
        let budget = match &*self.standing.effect.threshold {
            "" => "the budget is used up".to_owned(),
            threshold => format!("the budget has reached `{threshold}`"),
        };
        let message = format!("{budget}: {rest}; raise its limit, or wait for its next period");
        self.named(Failure::new(ErrorReason::BudgetExhausted, message), None)
    }

    /// Plans a request that somebody pays for; without a purse, any plan will do.
    pub(crate) async fn plan_for(
        purse: Option<Box<Self>>,
        dependencies: &Dependencies,
        catalog: &Catalog,
        admitted: &mut Admitted,
        account: &mut Account,
    ) -> Result<Planned, Box<Refused>> {
        let stream = account.is_of_a_stream();
        let Some(purse) = purse else { return plan::make(dependencies, catalog, admitted, stream) };
        let (planned, taken) = purse.plan(dependencies, catalog, admitted, stream).await?;
        account.paid_by(taken);
        Ok(planned)
    }

    /// Plans a request and takes what the plan can cost at most. Where that is not there, cheaper models are planned,
    /// with what is.
    async fn plan(
        &self,
        dependencies: &Dependencies,
        catalog: &Catalog,
        admitted: &mut Admitted,
        stream: bool,
    ) -> Result<(Planned, Taken), Box<Refused>> {
        let mut short = None;
        for try_ in 1..=TRIES {
            let planned = match plan::make(dependencies, catalog, admitted, stream) {
                Ok(planned) => planned,
                Err(refused) => return Err(self.told(refused, short)),
            };
            let worst = planned.worst;
            let Short { failure, available } = match self.take(dependencies, worst, planned.thrift).await {
                Ok(taken) => return Ok((planned, taken)),
                Err(short) => short,
            };
            if failure.reason != ErrorReason::BudgetExhausted {
                return Err(Box::new(Refused { failure, decision: planned.decision, too_dear: None }));
            }
            let is_next_the_last = try_ + 1 == TRIES;
            let left = if is_next_the_last { Money::ZERO } else { available.max(Money::ZERO) };
            admitted.budget.allowance = Some(left);
            short = Some((failure, planned.decision));
        }
        let (failure, decision) = short.unwrap_or_else(|| (exhausted(), Default::default()));
        Err(Box::new(Refused { failure, decision, too_dear: None }))
    }

    /// Takes a request's worst case. `thrift`: for the budget's sake dearer models were left out.
    pub(crate) async fn take(
        &self,
        dependencies: &Dependencies,
        worst: Worst,
        thrift: bool,
    ) -> Result<Taken, Short> {
        let reservation = dependencies.admission.reserve(&self.payer, worst).await?;
        let effect = self.effect_of(&*reservation, thrift);
        Ok(Taken::new(reservation, worst.cost, effect))
    }

    fn effect_of(&self, reservation: &dyn Reservation, thrift: bool) -> BudgetEffect {
        let mut effect = reservation.effect();
        if effect.threshold.is_empty() {
            effect.threshold.clone_from(&self.standing.effect.threshold);
        }
        if self.standing.limit == SpendLimit::CacheOrBatchOnly {
            // Only what costs nothing comes here.
            effect.set_outcome(Outcome::CacheOrBatchOnly);
        } else if self.standing.limit == SpendLimit::FreeOnly {
            metrics::thrift("free_only");
            effect.set_outcome(Outcome::FreeOnly);
        } else if thrift {
            metrics::thrift("downgraded");
            effect.set_outcome(Outcome::Downgraded);
        } else if !reservation.charges().is_empty() {
            // A threshold that leaves certain tiers changes nothing for who asks for these.
            effect.set_outcome(Outcome::Admitted);
        }
        effect
    }
}

/// Whether anything is counted or ruled.
fn is_any(standing: &Standing) -> bool {
    let Standing { tenant, tiers, limit, allowance, .. } = standing;
    tenant.is_some() || !tiers.is_empty() || *limit != SpendLimit::None || allowance.is_some()
}

fn exhausted() -> Failure {
    Failure::new(ErrorReason::BudgetExhausted, "the budget leaves too little for this request")
}
