//! What a replica hears when money or rate is short.

use crate::accounts::Line;
use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_ports::{Count, RateAsk, ledger::Account};
use signalbox_types::{ErrorReason, Failure, Money, Quota, QuotaViolation, shown};
use std::{collections::BTreeMap, time::Duration};

/// When what requests under way hold may have come back.
const SOON: Duration = Duration::from_secs(1);

/// A budget has too little for what is `needed`. `accounts` are those of `lines`, `short` the one that has too little.
pub(super) fn exhausted(lines: &[Line], accounts: &[Account], short: usize, needed: i64) -> Failure {
    let hard = lines.iter().zip(accounts).filter(|(line, _)| line.is_hard());
    let free = hard.map(|(_, account)| account.free().max(0)).min().unwrap_or_default();
    let leased = accounts.get(short).map_or(0, |account| account.leased);
    let (budget_id, description) = match (lines.get(short), accounts.get(short)) {
        (Some(line), Some(account)) => (line.budget.budget_id.as_str(), standing(account)),
        _ => ("", String::new()),
    };
    let tenant_id = lines.first().map_or("", |line| line.budget.tenant_id.as_str());
    let left = [("free_nano_eur", free), ("available_nano_eur", free), ("leased_nano_eur", leased)];
    let fits_soon = accounts.get(short).is_some_and(|account| needed <= account.free() + account.leased);
    Failure { retry_after: fits_soon.then_some(SOON), ..refused(tenant_id, budget_id, description, left) }
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
    let held = account.leased + account.reserved;
    let [free, limit, spent, held] =
        [account.free().max(0), account.limit, account.settled, held].map(Money::from_nano_eur);
    format!("of {limit} {spent} is spent, {held} is held for requests under way, {free} is left")
}

/// A rate is used up for now.
pub(super) fn rate_limited(
    ask: &RateAsk,
    of: Count,
    retry_after: Duration,
    remaining: &RateLimit,
) -> Failure {
    let (name, limit) = (rate_name(ask), limit_name(&ask.limit, of));
    let wait = retry_after.as_millis();
    let message = format!("the rate limit of {name} is used up, {limit}; try again in {wait} ms");
    let violation = violation(ask, of, format!("{limit} are used up for now"));
    let quota = Quota { violations: vec![violation], left: left(ask, of, remaining) };
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
    let violation = violation(ask, Count::Tokens, "smaller than the request".to_owned());
    let quota = Quota { violations: vec![violation], left: left(ask, Count::Tokens, &ask.limit) };
    Failure { quota: Some(Box::new(quota)), ..Failure::new(ErrorReason::RateLimited, message) }
}

fn violation(ask: &RateAsk, of: Count, description: String) -> QuotaViolation {
    let level = match ask.level {
        Level::Scene => format!("/scene/{}", ask.name),
        Level::Key => format!("/key/{}", ask.name),
        Level::Tenant | Level::Unspecified => String::new(),
    };
    let subject = format!("tenant/{}{level}/rate/{}", ask.tenant_id, field(of));
    QuotaViolation { subject, description }
}

fn rate_name(ask: &RateAsk) -> String {
    match ask.level {
        Level::Scene => format!("the scene `{}`", shown(&ask.name)),
        Level::Key => format!("the API key `{}`", shown(&ask.name)),
        Level::Tenant | Level::Unspecified => format!("the tenant `{}`", shown(&ask.tenant_id)),
    }
}

/// The field of [`RateLimit`] that sets it.
fn field(of: Count) -> &'static str {
    match of {
        Count::Requests => "requests_per_minute",
        Count::Tokens => "tokens_per_minute",
        Count::Concurrent => "concurrent_requests",
    }
}

fn limit_name(limit: &RateLimit, of: Count) -> String {
    match of {
        Count::Requests => format!("{} requests a minute", limit.requests_per_minute),
        Count::Tokens => format!("{} tokens a minute", limit.tokens_per_minute),
        Count::Concurrent => format!("{} requests at once", limit.concurrent_requests),
    }
}

/// Which limit it is, and what is left of all that are set.
fn left(ask: &RateAsk, of: Count, remaining: &RateLimit) -> BTreeMap<String, String> {
    let RateLimit { requests_per_minute, tokens_per_minute, concurrent_requests } = ask.limit;
    let told = [
        ("remaining_requests", requests_per_minute > 0, remaining.requests_per_minute.to_string()),
        ("remaining_tokens", tokens_per_minute > 0, remaining.tokens_per_minute.to_string()),
        ("remaining_concurrent_requests", concurrent_requests > 0, remaining.concurrent_requests.to_string()),
        ("limited_by", true, field(of).to_owned()),
    ];
    let set = told.into_iter().filter(|(_, is_set, _)| *is_set);
    set.map(|(name, _, told)| (name.to_owned(), told)).collect()
}
