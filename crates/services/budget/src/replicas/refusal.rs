//! What a replica hears when money or rate is short.

use crate::accounts::Line;
use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_ports::{RateAsk, ledger::Account};
use signalbox_types::{ErrorReason, Failure, Money, Quota, QuotaViolation, shown};
use std::{collections::BTreeMap, time::Duration};

/// A budget has too little. `accounts` are those of `lines`, `short` the one that has too little.
pub(super) fn exhausted(lines: &[Line], accounts: &[Account], short: usize) -> Failure {
    let hard = lines.iter().zip(accounts).filter(|(line, _)| line.is_hard());
    let free = hard.map(|(_, account)| account.free().max(0)).min().unwrap_or_default();
    let leased = accounts.get(short).map_or(0, |account| account.leased);
    let (budget_id, description) = match (lines.get(short), accounts.get(short)) {
        (Some(line), Some(account)) => (line.budget.budget_id.as_str(), standing(account)),
        _ => ("", String::new()),
    };
    let tenant_id = lines.first().map_or("", |line| line.budget.tenant_id.as_str());
    let left = [("free_nano_eur", free), ("available_nano_eur", free), ("leased_nano_eur", leased)];
    refused(tenant_id, budget_id, description, left)
}

/// A threshold of a budget says that nothing more, or nothing that costs, is admitted.
pub(super) fn forbidden(line: &Line, threshold: &str) -> Failure {
    let Line { budget, .. } = line;
    let left = [("free_nano_eur", 0), ("available_nano_eur", 0), ("leased_nano_eur", 0)];
    let description = format!("the threshold {threshold} is reached");
    refused(&budget.tenant_id, &budget.budget_id, description, left)
}

fn refused(tenant_id: &str, budget_id: &str, description: String, left: [(&str, i64); 3]) -> Failure {
    let message = format!("the budget `{}` cannot pay: {description}", shown(budget_id));
    let subject = format!("tenant/{tenant_id}/budget/{budget_id}");
    let quota = Quota {
        violations: vec![QuotaViolation { subject, description }],
        left: left.into_iter().map(|(name, amount)| (name.to_owned(), amount.to_string())).collect(),
    };
    Failure { quota: Some(Box::new(quota)), ..Failure::new(ErrorReason::BudgetExhausted, message) }
}

fn standing(account: &Account) -> String {
    let [free, limit] = [account.free().max(0), account.limit].map(Money::from_nano_eur);
    format!("{free} of {limit} is left")
}

/// A rate is used up for now.
pub(super) fn rate_limited(ask: &RateAsk, retry_after: Duration, remaining: &RateLimit) -> Failure {
    let name = rate_name(ask);
    let message = format!("the rate limit of {name} is used up; try again in {} ms", retry_after.as_millis());
    let quota = Quota { violations: vec![violation(ask, "used up for now")], left: left(remaining) };
    let failure = Failure::new(ErrorReason::RateLimited, message);
    Failure { retry_after: Some(retry_after), quota: Some(Box::new(quota)), ..failure }
}

/// A request that a rate never fits.
pub(super) fn too_large(ask: &RateAsk) -> Failure {
    let most = ask.limit.tokens_per_minute;
    let message = format!(
        "the request may need more tokens than the rate limit of {} ever has, {most} a minute: lower \
         max_output_tokens or shorten the prompt",
        rate_name(ask)
    );
    let quota =
        Quota { violations: vec![violation(ask, "smaller than the request")], left: left(&ask.limit) };
    Failure { quota: Some(Box::new(quota)), ..Failure::new(ErrorReason::RateLimited, message) }
}

fn violation(ask: &RateAsk, description: &str) -> QuotaViolation {
    let level = match ask.level {
        Level::Scene => format!("/scene/{}", ask.name),
        Level::Key => format!("/key/{}", ask.name),
        Level::Tenant | Level::Unspecified => String::new(),
    };
    let subject = format!("tenant/{}{level}/rate", ask.tenant_id);
    QuotaViolation { subject, description: description.to_owned() }
}

fn rate_name(ask: &RateAsk) -> String {
    match ask.level {
        Level::Scene => format!("the scene `{}`", shown(&ask.name)),
        Level::Key => format!("the API key `{}`", shown(&ask.name)),
        Level::Tenant | Level::Unspecified => format!("the tenant `{}`", shown(&ask.tenant_id)),
    }
}

fn left(remaining: &RateLimit) -> BTreeMap<String, String> {
    let told = [
        ("remaining_requests", remaining.requests_per_minute.to_string()),
        ("remaining_tokens", remaining.tokens_per_minute.to_string()),
        ("remaining_concurrent_requests", remaining.concurrent_requests.to_string()),
    ];
    told.map(|(name, number)| (name.to_owned(), number)).into()
}
