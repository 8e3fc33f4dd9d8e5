//! A row for each day of a tenant, scene, task type, vendor and model.

use super::{
    Outlet, Stopped, Sum,
    cell::{Cell, Column, Kind, columns, money, unknown},
    sheet::Sheet,
};
use crate::{failure, months, service::Dependencies};
use signalbox_api::v1::{TokenUsage, UsageDimension, UsageFilter, UsageRow, query_usage_request::Interval};
use signalbox_ports::usage_store::{Export, Query};
use signalbox_types::Failure;

const GROUP_BY: [UsageDimension; 5] = [
    UsageDimension::Tenant,
    UsageDimension::Scene,
    UsageDimension::TaskType,
    UsageDimension::Vendor,
    UsageDimension::Model,
];

/// Read from sums and sorted here: how a store orders what costs the same is its own affair, and a closed month has the
/// same bytes for ever.
pub(super) async fn write(
    dependencies: &Dependencies,
    query: &Export,
    mut sheet: Sheet<UsageRow>,
    outlet: &Outlet,
) -> Result<(), Stopped> {
    let mut rows = Vec::new();
    for day in months::days(query.month) {
        let mut found = of_day(dependencies, query, day).await?;
        found.sort_by(|one, other| one.group.cmp(&other.group));
        rows.extend(found);
    }
    let (total, mut sum) = (rows.len() as u64, Sum::default());
    outlet.pass(&mut sheet, total).await?;
    for row in rows {
        sum.add(row.cost.as_ref());
        if sheet.row(&row)? {
            outlet.pass(&mut sheet, total).await?;
        }
    }
    outlet.end(sheet, sum.told()).await
}

async fn of_day(
    dependencies: &Dependencies,
    query: &Export,
    window: signalbox_ports::usage_store::Window,
) -> Result<Vec<UsageRow>, Failure> {
    let tenant_ids = Some(query.tenant_id.clone()).filter(|id| !id.is_empty()).into_iter().collect();
    let query = Query {
        window,
        filter: UsageFilter { tenant_ids, ..UsageFilter::default() },
        group_by: GROUP_BY.to_vec(),
        interval: Interval::Day,
        limit: usize::try_from(u32::MAX).unwrap_or(usize::MAX),
        offset: 0,
    };
    Ok(dependencies.store.query(&query).await.map_err(failure::of_store)?.rows)
}

pub(super) const COLUMNS: &[Column<UsageRow>] = columns![
    Day day: row => Cell::day(row.start_time.as_ref()),
    Text tenant_id: row => group(row, 0),
    Text scene: row => group(row, 1),
    Text task_type: row => group(row, 2),
    Text vendor: row => group(row, 3),
    Text model: row => group(row, 4),
    Number requests: row => Cell::count(row.requests),
    Number failed: row => Cell::count(row.failed),
    Number cancelled: row => Cell::count(row.cancelled),
    Number attempts: row => Cell::count(row.attempts),
    Number fallbacks: row => Cell::count(row.fallbacks),
    Number cache_hits: row => Cell::count(row.cache_hits),
    Number input_tokens: row => Cell::count(tokens(row).input_tokens),
    Number cache_read_tokens: row => Cell::count(tokens(row).cache_read_tokens),
    Number cache_write_tokens: row => Cell::count(tokens(row).cache_write_tokens),
    Number cache_write_1h_tokens: row => Cell::count(tokens(row).cache_write_1h_tokens),
    Number output_tokens: row => Cell::count(tokens(row).output_tokens),
    Number reasoning_tokens: row => Cell::count(tokens(row).reasoning_tokens),
    Number cost_nano_eur: row => money(row.cost.as_ref()),
    Flag cost_unknown: row => unknown(row.cost.as_ref()),
    Number cost_unknown_requests: row => Cell::count(row.cost_unknown_requests),
    Number saved_nano_eur: row => money(row.saved.as_ref()),
];

fn group(row: &UsageRow, at: usize) -> Cell<'_> {
    Cell::Text(row.group.get(at).map_or("", String::as_str))
}

fn tokens(row: &UsageRow) -> TokenUsage {
    row.usage.unwrap_or_default()
}
