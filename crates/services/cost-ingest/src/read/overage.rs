//! What a tenant used beyond its plan.

use crate::{failure, months, service::Dependencies};
use signalbox_api::v1::{
    GetOverageRequest, GetOverageResponse, Overage, TokenUsage, UsageFilter, UsageRow, overage::Measure,
    query_usage_request::Interval,
};
use signalbox_kit::config::PlanConfig;
use signalbox_ports::usage_store::Query;
use signalbox_types::{ErrorReason, Failure};

/// Answers `GetOverage`. A tenant without a plan has no quota, so it exceeds none.
pub(crate) async fn overage(
    dependencies: &Dependencies,
    request: GetOverageRequest,
) -> Result<GetOverageResponse, Failure> {
    if request.tenant_id.is_empty() {
        return Err(Failure::invalid("tenant_id", "is required"));
    }
    let window = match request.month.as_str() {
        "" => months::month_of(dependencies.clock.now())
            .ok_or_else(|| Failure::new(ErrorReason::Internal, "the clock tells no time"))?,
        month => months::month(month)?,
    };
    let loaded = dependencies.config.loaded();
    let tenant = loaded.config.tenants.get(&request.tenant_id);
    let plan = tenant.and_then(|tenant| tenant.plan.as_ref());
    let Some((name, plan)) = plan.and_then(|name| loaded.config.plans.get_key_value(name)) else {
        return Ok(GetOverageResponse::default());
    };
    let query = Query {
        window,
        filter: UsageFilter { tenant_ids: vec![request.tenant_id], ..UsageFilter::default() },
        group_by: Vec::new(),
        interval: Interval::Unspecified,
        limit: 1,
        offset: 0,
    };
    let page = dependencies.store.query(&query).await.map_err(failure::of_store)?;
    let used = page.rows.into_iter().next().unwrap_or_default();
    Ok(GetOverageResponse { plan: name.clone(), overages: overages(plan, &used) })
}

fn overages(plan: &PlanConfig, used: &UsageRow) -> Vec<Overage> {
    // Millionths of a euro.
    let cost = plan.cost_eur.map(|euros| euros.0.saturating_mul(1_000));
    let spent = used.cost.as_ref().map_or(0, |cost| cost.nano_eur.unsigned_abs());
    let measures = [
        (Measure::Requests, plan.requests, used.requests),
        (Measure::Tokens, plan.tokens, used.usage.as_ref().map_or(0, tokens)),
        (Measure::Cost, cost, spent),
    ];
    let told = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let overage = |(measure, included, used): (Measure, Option<u64>, u64)| {
        let included = included?;
        Some(Overage {
            measure: measure as i32,
            included: told(included),
            used: told(used),
            over: told(used.saturating_sub(included)),
        })
    };
    measures.into_iter().filter_map(overage).collect()
}

fn tokens(usage: &TokenUsage) -> u64 {
    [
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}
