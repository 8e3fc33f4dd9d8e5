//! Heartbeats cost, so the tenant that pays for them may have budgets like any other.

use crate::{call::Call, service::Dependencies};
use signalbox_ports::{Payer, Reservation, SpendLimit, Standing, Worst};
use signalbox_pricing::Day;
use signalbox_types::{ErrorReason, Failure, Money};

/// Takes what a heartbeat can cost at most from the budgets of its tenant, where it has any; fails where they do not pay
/// for it.
pub(super) async fn reserve(
    dependencies: &Dependencies,
    call: &Call,
) -> Result<Option<Box<dyn Reservation>>, Failure> {
    let admission = &dependencies.admission;
    if admission.is_unlimited() {
        return Ok(None);
    }
    let payer = Payer { tenant_id: call.request.tenant_id.clone(), ..Payer::default() };
    let standing = admission.standing(&payer).await?;
    let output = call.request.prompt.max_output_tokens.map_or(0, u64::from);
    let catalog = dependencies.config.catalog();
    let day = Day::of(dependencies.clock.now());
    let ceiling = catalog.prices().worst_case(&call.model, call.prompt_tokens, output, day);
    let cost = affordable(&standing, ceiling)?;
    let worst = Worst { cost, tokens: call.prompt_tokens.saturating_add(output) };
    admission.reserve(&payer, worst).await.map(Some).map_err(|short| unpaid(&short.failure.message))
}

/// What is to be reserved, if such a call may be made at all.
fn affordable(standing: &Standing, ceiling: Option<Money>) -> Result<Money, Failure> {
    let allowance = match standing.limit {
        SpendLimit::None => standing.allowance,
        SpendLimit::FreeOnly => Some(Money::ZERO),
        SpendLimit::CacheOrBatchOnly | SpendLimit::Refuse => {
            return Err(unpaid("the budget pays for no calls"));
        }
    };
    match (ceiling, allowance) {
        (Some(ceiling), Some(allowance)) if ceiling > allowance => {
            Err(unpaid(&format!("it could cost {ceiling}, the budget leaves {allowance}")))
        }
        (None, Some(_)) => Err(unpaid("its price is unknown, and the budget has a limit")),
        _ => Ok(ceiling.unwrap_or_default()),
    }
}

fn unpaid(why: &str) -> Failure {
    Failure::new(ErrorReason::BudgetExhausted, format!("no heartbeat: {why}"))
}
