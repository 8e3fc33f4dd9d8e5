//! A row for each model call.

use super::{
    Outlet, Stopped, Sum,
    cell::{Cell, Column, Kind, columns, money, price_version, unknown},
    sheet::Sheet,
};
use crate::{failure, service::Dependencies};
use futures_util::TryStreamExt;
use signalbox_api::v1::{Attempt, TokenUsage, UsageAttempt, UsageFilter, query_usage_request::Interval};
use signalbox_ports::usage_store::{Counted, Export, Exported, Query};
use signalbox_types::Failure;
use std::mem;

/// One call of a request.
pub(super) struct Made {
    counted: Counted,
    /// From 1, in order of their start.
    number: u64,
    made: UsageAttempt,
    call: Attempt,
}

pub(super) async fn write(
    dependencies: &Dependencies,
    query: &Export,
    exported: Exported,
    mut sheet: Sheet<Made>,
    outlet: &Outlet,
) -> Result<(), Stopped> {
    let total = total(dependencies, query).await?;
    let (mut events, mut sum) = (exported.events, Sum::default());
    outlet.pass(&mut sheet, total).await?;
    while let Some(mut counted) = events.try_next().await.map_err(failure::of_store)? {
        let attempts = mem::take(&mut counted.event.attempts);
        let mut row = Made { counted, number: 0, made: UsageAttempt::default(), call: Attempt::default() };
        for mut made in attempts {
            row.number += 1;
            row.call = made.attempt.take().unwrap_or_default();
            row.made = made;
            sum.add(row.call.cost.as_ref());
            if sheet.row(&row)? {
                outlet.pass(&mut sheet, total).await?;
            }
        }
    }
    outlet.end(sheet, sum.told()).await
}

/// How many calls the month has.
async fn total(dependencies: &Dependencies, query: &Export) -> Result<u64, Failure> {
    let tenant_ids = Some(query.tenant_id.clone()).filter(|id| !id.is_empty()).into_iter().collect();
    let query = Query {
        window: query.month,
        filter: UsageFilter { tenant_ids, ..UsageFilter::default() },
        group_by: Vec::new(),
        interval: Interval::Unspecified,
        limit: 1,
        offset: 0,
    };
    let page = dependencies.store.query(&query).await.map_err(failure::of_store)?;
    Ok(page.rows.first().map_or(0, |row| row.attempts))
}

pub(super) const COLUMNS: &[Column<Made>] = columns![
    Time counted_time: row => Cell::time(Some(&row.counted.when.into())),
    Text event_id: row => Cell::Text(&row.counted.event.event_id),
    Text request_id: row => Cell::Text(&row.counted.event.request_id),
    Text tenant_id: row => Cell::Text(&row.counted.event.tenant_id),
    Text key_id: row => Cell::Text(&row.counted.event.key_id),
    Text scene: row => Cell::Text(&row.counted.event.scene),
    Text task_type: row => Cell::Text(&row.counted.event.task_type),
    Text reference: row => Cell::Text(&row.counted.event.reference),
    Number attempt: row => Cell::count(row.number),
    Text kind: row => Cell::Text(row.made.kind().as_str_name()),
    Text cause: row => Cell::Text(row.call.cause().as_str_name()),
    Text fallback_reason: row => Cell::Text(&row.made.fallback_reason),
    Text vendor: row => Cell::Text(&row.call.vendor),
    Text model: row => Cell::Text(&row.call.model),
    Text served_model: row => Cell::Text(&row.made.served_model),
    Text error_reason: row => Cell::Text(&row.call.error_reason),
    Number vendor_status: row => Cell::count(u64::from(row.call.vendor_status)),
    Text vendor_request_id: row => Cell::Text(&row.call.vendor_request_id),
    Number input_tokens: row => Cell::count(tokens(row).input_tokens),
    Number cache_read_tokens: row => Cell::count(tokens(row).cache_read_tokens),
    Number cache_write_tokens: row => Cell::count(tokens(row).cache_write_tokens),
    Number cache_write_1h_tokens: row => Cell::count(tokens(row).cache_write_1h_tokens),
    Number output_tokens: row => Cell::count(tokens(row).output_tokens),
    Number reasoning_tokens: row => Cell::count(tokens(row).reasoning_tokens),
    Text token_source: row => Cell::Text(tokens(row).source().as_str_name()),
    Number cost_nano_eur: row => money(row.call.cost.as_ref()),
    Flag cost_unknown: row => unknown(row.call.cost.as_ref()),
    Text price_version: row => price_version(row.call.cost.as_ref()),
    Time start_time: row => Cell::time(row.made.start_time.as_ref()),
    Micros latency_us: row => Cell::span(row.call.latency.as_ref()),
    Micros time_to_first_token_us: row => Cell::span(row.made.time_to_first_token.as_ref()),
    Flag simulated: row => Cell::Flag(row.made.simulated),
];

fn tokens(row: &Made) -> TokenUsage {
    row.call.usage.unwrap_or_default()
}
