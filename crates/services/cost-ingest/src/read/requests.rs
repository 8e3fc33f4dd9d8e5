//! Single requests.

use super::{
    Pages, filter,
    window::{ever, window},
};
use crate::{failure, service::Dependencies};
use signalbox_api::{
    convert::Violations,
    v1::{GetRequestRequest, GetRequestResponse, ListRequestsRequest, ListRequestsResponse, UsageFilter},
};
use signalbox_ports::usage_store::Requests;
use signalbox_types::{ErrorReason, Failure, shown};
use std::time::Duration;

/// Thirty days: the window of those who say none.
const RECENT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How many requests with the same id are told at once.
const SAME_ID: usize = 100;
/// Bytes of an id that may be looked for.
const LONGEST: usize = 1_024;

/// Answers `GetRequest`.
pub(crate) async fn get(
    dependencies: &Dependencies,
    request: GetRequestRequest,
) -> Result<GetRequestResponse, Failure> {
    let mut violations = Violations::default();
    violations.check(!request.request_id.is_empty(), || "request_id", || "is required");
    for (field, value) in [("request_id", &request.request_id), ("tenant_id", &request.tenant_id)] {
        violations.check(value.len() <= LONGEST, || field, || format!("has more than {LONGEST} bytes"));
    }
    violations.into_result()?;
    // Whoever names no tenant, and is no tenant, means all of them.
    let tenant_ids = Some(request.tenant_id.clone()).filter(|id| !id.is_empty()).into_iter().collect();
    let question = Requests {
        window: ever(dependencies.clock.now()),
        filter: UsageFilter { tenant_ids, ..UsageFilter::default() },
        request_id: request.request_id.clone(),
        limit: SAME_ID,
        after: None,
    };
    let page = dependencies.store.requests(&question).await.map_err(failure::of_store)?;
    let more = page.more;
    let mut events = page.rows.into_iter().map(|counted| counted.event);
    let newest = events.next().ok_or_else(|| {
        let of = match request.tenant_id.as_str() {
            "" => String::new(),
            tenant => format!(" of the tenant {}", shown(tenant)),
        };
        let request = shown(&request.request_id);
        let message = format!("no request {request}{of} is known; it may have ended just now");
        Failure::new(ErrorReason::NotFound, message)
    })?;
    Ok(GetRequestResponse { event: Some(newest), earlier: events.collect(), more })
}

/// Answers `ListRequests`.
pub(crate) async fn list(
    dependencies: &Dependencies,
    request: ListRequestsRequest,
) -> Result<ListRequestsResponse, Failure> {
    let mut violations = Violations::default();
    let pages = Pages::requests(&request, &mut violations);
    let now = dependencies.clock.now();
    let (first_start, first_end) = pages.window();
    let told = (request.start_time.or(first_start), request.end_time.or(first_end));
    let window = window(told, now.checked_sub(RECENT), now, &mut violations);
    let wanted = request.filter.unwrap_or_default();
    filter::check(&wanted, &mut violations);
    let short = request.request_id.len() <= LONGEST;
    violations.check(short, || "request_id", || format!("has more than {LONGEST} bytes"));
    violations.into_result()?;
    let question = Requests {
        window,
        filter: wanted,
        request_id: request.request_id,
        limit: pages.size,
        after: pages.after(),
    };
    let page = dependencies.store.requests(&question).await.map_err(failure::of_store)?;
    let next_page_token = match page.rows.last() {
        Some(last) if page.more => {
            pages.after_row((window.start, window.end), last.when, &last.event.event_id)
        }
        _ => String::new(),
    };
    let events = page.rows.into_iter().map(|counted| counted.event).collect();
    Ok(ListRequestsResponse { events, next_page_token })
}
