//! Money for one spender, and what was spent.

use super::{recall::recall, refusal, served};
use crate::{
    accounts::{self, Effect, Line},
    check::{check_amount, check_required, check_text},
    failure, metrics,
    service::Dependencies,
};
use signalbox_api::{
    convert::{Violations, duration_from_proto},
    v1::{
        BudgetEffect, Cost, ReserveRequest, ReserveResponse, SettleRequest, SettleResponse, Tenant, Tier,
        UsageCharge, budget::Action, budget_effect::Outcome,
    },
};
use signalbox_ports::ledger::{Account, ReserveAsk, Reserved};
use signalbox_types::Failure;
use std::time::Duration;

/// Longest that money is set aside.
const LONGEST: Duration = Duration::from_secs(62 * 24 * 60 * 60);

/// Answers `Reserve`.
pub(crate) async fn reserve(
    dependencies: &Dependencies,
    request: ReserveRequest,
) -> Result<ReserveResponse, Failure> {
    let ttl = check(&request)?;
    let expires_at = dependencies.clock.now() + ttl;
    let free = ReserveResponse { expire_time: Some(expires_at.into()), ..ReserveResponse::default() };
    let Some(tenant) = served(dependencies, &request.tenant_id).await? else { return Ok(free) };
    let lines = accounts::lines(dependencies, &tenant, (&request.key_id, &request.scene)).await?;
    if lines.is_empty() {
        return Ok(free);
    }
    let ask = ReserveAsk {
        reservation_id: request.reservation_id.clone(),
        request_id: request.request_id.clone(),
        accounts: lines.iter().map(Line::opening).collect(),
        amount: request.amount_nano_eur,
        expires_at,
    };
    match dependencies.ledger.reserve(&ask).await.map_err(failure::of_ledger)? {
        Reserved::All(accounts) => {
            dependencies.feed.active().note(&lines);
            Ok(ReserveResponse {
                expire_time: free.expire_time,
                ..made(dependencies, &tenant, &lines, &accounts, &request)
            })
        }
        Reserved::Short { accounts, short } => {
            if let (Some(line), Some(account)) = (lines.get(short), accounts.get(short)) {
                recall(dependencies, line, account).await;
            }
            metrics::refused("budget");
            Err(refusal::exhausted(&lines, &accounts, short, ask.amount))
        }
    }
}

fn check(request: &ReserveRequest) -> Result<Duration, Failure> {
    let mut violations = Violations::default();
    check_required(&request.reservation_id, "reservation_id", &mut violations);
    check_required(&request.tenant_id, "tenant_id", &mut violations);
    check_amount(request.amount_nano_eur, "amount_nano_eur", &mut violations);
    let texts = [("key_id", &request.key_id), ("scene", &request.scene), ("request_id", &request.request_id)];
    for (field, text) in texts {
        check_text(text, 1_024, field, &mut violations);
    }
    let ttl = request.ttl.and_then(duration_from_proto).filter(|ttl| !ttl.is_zero() && *ttl <= LONGEST);
    violations.check(ttl.is_some(), || "ttl", || "is required: above 0 and at most 62 days");
    violations.into_result()?;
    Ok(ttl.unwrap_or_default())
}

fn made(
    dependencies: &Dependencies,
    tenant: &Tenant,
    lines: &[Line],
    accounts: &[Account],
    request: &ReserveRequest,
) -> ReserveResponse {
    let now = dependencies.clock.now();
    let charge = |account: &Account| UsageCharge {
        budget_id: account.key.budget_id.clone(),
        period_id: account.key.period_id.clone(),
        lease_id: String::new(),
        reservation_id: request.reservation_id.clone(),
        reserved_nano_eur: request.amount_nano_eur,
    };
    let active = dependencies.feed.active();
    let effects = lines.iter().zip(accounts).map(|(line, account)| active.effect(line, account, now));
    let strictest = effects.max_by_key(|effect| (effect.action, effect.tier));
    let free = accounts.iter().map(Account::free).min().unwrap_or_default();
    ReserveResponse {
        charges: accounts.iter().map(charge).collect(),
        allowed_tiers: strictest.as_ref().map(|effect| tiers(tenant, effect)).unwrap_or_default(),
        effect: strictest.map(|effect| told(&effect, free)),
        expire_time: None,
    }
}

fn told(effect: &Effect, free: i64) -> BudgetEffect {
    let outcome = match effect.action {
        Action::Unspecified | Action::Notify => Outcome::Admitted,
        Action::LimitTier => Outcome::Downgraded,
        // What is reserved on its own is a batch's.
        Action::CacheOrBatchOnly => Outcome::CacheOrBatchOnly,
        Action::FreeOnly | Action::Refuse => Outcome::FreeOnly,
    };
    let remaining = Some(Cost { nano_eur: free, ..Cost::default() });
    BudgetEffect { outcome: outcome as i32, threshold: effect.threshold.clone(), remaining }
}

/// Tiers that both the tenant and its budgets leave, dearest first; empty for all that the tenant may use.
fn tiers(tenant: &Tenant, effect: &Effect) -> Vec<i32> {
    if effect.action != Action::LimitTier {
        return Vec::new();
    }
    let cheap_enough = |tier: &Tier| *tier >= effect.tier;
    let own = |tier: &Tier| tenant.allowed_tiers.is_empty() || tenant.allowed_tiers.contains(&(*tier as i32));
    let all = [Tier::Premium, Tier::Standard, Tier::Economy];
    all.into_iter().filter(cheap_enough).filter(own).map(|tier| tier as i32).collect()
}

/// Answers `Settle`.
pub(crate) async fn settle(
    dependencies: &Dependencies,
    request: SettleRequest,
) -> Result<SettleResponse, Failure> {
    let mut violations = Violations::default();
    for (index, settlement) in request.settlements.iter().enumerate() {
        check_required(
            &settlement.settlement_id,
            &format!("settlements[{index}].settlement_id"),
            &mut violations,
        );
    }
    violations.into_result()?;
    let refusals = dependencies.ledger.settle(&request.settlements).await.map_err(failure::of_ledger)?;
    metrics::settled(request.settlements.len().saturating_sub(refusals.len()), refusals.len());
    for refusal in &refusals {
        tracing::error!(
            settlement = refusal.settlement_id,
            reason = refusal.reason,
            "a settlement cannot be booked"
        );
    }
    Ok(SettleResponse { refusals })
}
