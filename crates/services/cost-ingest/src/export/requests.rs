//! A row for each request.

use super::{
    Outlet, Stopped, Sum,
    cell::{Cell, Column, Kind, columns, money, price_version, unknown},
    sheet::Sheet,
};
use crate::failure;
use futures_util::TryStreamExt;
use signalbox_api::v1::{CacheEffect, TokenUsage};
use signalbox_ports::usage_store::{Counted, Exported};
use std::sync::LazyLock;

pub(super) async fn write(
    exported: Exported,
    mut sheet: Sheet<Counted>,
    outlet: &Outlet,
) -> Result<(), Stopped> {
    let (mut events, mut sum) = (exported.events, Sum::default());
    outlet.pass(&mut sheet, exported.total).await?;
    while let Some(counted) = events.try_next().await.map_err(failure::of_store)? {
        sum.add(counted.event.cost.as_ref());
        if sheet.row(&counted)? {
            outlet.pass(&mut sheet, exported.total).await?;
        }
    }
    outlet.end(sheet, sum.told()).await
}

pub(super) const COLUMNS: &[Column<Counted>] = columns![
    Time counted_time: row => Cell::time(Some(&row.when.into())),
    Text event_id: row => Cell::Text(&row.event.event_id),
    Text request_id: row => Cell::Text(&row.event.request_id),
    Text trace_id: row => Cell::Text(&row.event.trace_id),
    Text tenant_id: row => Cell::Text(&row.event.tenant_id),
    Text key_id: row => Cell::Text(&row.event.key_id),
    Text scene: row => Cell::Text(&row.event.scene),
    Text task_type: row => Cell::Text(&row.event.task_type),
    Text locale: row => Cell::Text(&row.event.locale),
    Text reference: row => Cell::Text(&row.event.reference),
    Text lane: row => Cell::Text(row.event.lane().as_str_name()),
    Text operation: row => Cell::Text(row.event.operation().as_str_name()),
    Text requested_model: row => Cell::Text(&row.event.requested_model),
    Text vendor: row => Cell::Text(&row.event.vendor),
    Text model: row => Cell::Text(&row.event.model),
    Text served_model: row => Cell::Text(&row.event.served_model),
    Text route_reason: row => Cell::Text(&row.event.route_reason),
    Text outcome: row => Cell::Text(row.event.outcome().as_str_name()),
    Text error_reason: row => Cell::Text(&row.event.error_reason),
    Text finish_reason: row => Cell::Text(row.event.finish_reason().as_str_name()),
    Text cache_outcome: row => Cell::Text(cache(row).outcome().as_str_name()),
    Number attempts: row => Cell::count(row.event.attempts.len() as u64),
    Number input_tokens: row => Cell::count(tokens(row).input_tokens),
    Number cache_read_tokens: row => Cell::count(tokens(row).cache_read_tokens),
    Number cache_write_tokens: row => Cell::count(tokens(row).cache_write_tokens),
    Number cache_write_1h_tokens: row => Cell::count(tokens(row).cache_write_1h_tokens),
    Number output_tokens: row => Cell::count(tokens(row).output_tokens),
    Number reasoning_tokens: row => Cell::count(tokens(row).reasoning_tokens),
    Text token_source: row => Cell::Text(tokens(row).source().as_str_name()),
    Number cost_nano_eur: row => money(row.event.cost.as_ref()),
    Flag cost_unknown: row => unknown(row.event.cost.as_ref()),
    Text price_version: row => price_version(row.event.cost.as_ref()),
    Number saved_nano_eur: row => money(cache(row).saved.as_ref()),
    Time start_time: row => Cell::time(row.event.start_time.as_ref()),
    Time end_time: row => Cell::time(row.event.end_time.as_ref()),
    Micros latency_us: row => Cell::span(row.event.latency.as_ref()),
    Micros time_to_first_token_us: row => Cell::span(row.event.time_to_first_token.as_ref()),
    Flag simulated: row => Cell::Flag(row.event.simulated),
];

fn tokens(row: &Counted) -> TokenUsage {
    row.event.usage.unwrap_or_default()
}

fn cache(row: &Counted) -> &CacheEffect {
    static NONE: LazyLock<CacheEffect> = LazyLock::new(CacheEffect::default);
    row.event.cache.as_ref().unwrap_or(&NONE)
}
