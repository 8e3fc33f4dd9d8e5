//! Sums.

use super::{Pages, filter, window::window};
use crate::{failure, service::Dependencies};
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{QueryUsageRequest, QueryUsageResponse, UsageDimension, query_usage_request::Interval},
};
use signalbox_ports::usage_store::Query;
use signalbox_types::Failure;

/// Rows that may be passed over: each page reads them again.
const FARTHEST: usize = 1_000_000;

/// Answers `QueryUsage`.
pub(crate) async fn query(
    dependencies: &Dependencies,
    request: QueryUsageRequest,
) -> Result<QueryUsageResponse, Failure> {
    let mut violations = Violations::default();
    let pages = Pages::usage(&request, &mut violations);
    let (first_start, first_end) = pages.window();
    let told = (request.start_time.or(first_start), request.end_time.or(first_end));
    let window = window(told, None, dependencies.clock.now(), &mut violations);
    let wanted = request.filter.unwrap_or_default();
    filter::check(&wanted, &mut violations);
    let group_by = dimensions(&request.group_by, &mut violations);
    let interval = known_enum::<Interval>(request.interval, "interval", &mut violations);
    violations.check(
        pages.offset() <= FARTHEST,
        || "page_token",
        || {
            format!(
                "more than {FARTHEST} rows cannot be paged through; ask for a shorter window or fewer groups"
            )
        },
    );
    violations.into_result()?;
    let pages = pages.within((window.start, window.end));
    let query =
        Query { window, filter: wanted, group_by, interval, limit: pages.size, offset: pages.offset() };
    let page = dependencies.store.query(&query).await.map_err(failure::of_store)?;
    // A request whose machine's clock is ahead says nothing of what has ended until then.
    let newest = page.newest.filter(|newest| *newest <= dependencies.clock.now());
    let complete_until = dependencies.progress.complete_until().max(newest);
    Ok(QueryUsageResponse {
        next_page_token: pages.next_offset(page.rows.len(), page.more),
        rows: page.rows,
        rows_read: page.rows_read,
        complete_until: complete_until.map(Into::into),
    })
}

fn dimensions(told: &[i32], violations: &mut Violations) -> Vec<UsageDimension> {
    let mut dimensions = Vec::with_capacity(told.len().min(16));
    for (index, value) in told.iter().enumerate() {
        let field = format!("group_by[{index}]");
        match known_enum::<UsageDimension>(*value, &field, violations) {
            UsageDimension::Unspecified => {
                violations.check(*value != 0, || field, || "must say a dimension");
            }
            dimension if dimensions.contains(&dimension) => violations.add(field, "is there twice"),
            dimension => dimensions.push(dimension),
        }
    }
    dimensions
}
