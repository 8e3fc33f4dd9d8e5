//! The ledger against the usage store, request by request.

mod book;
mod usage;

pub use usage::UsageOverHop;

use crate::{check::check_id, failure, pages::Page, service::Dependencies};
use book::{Book, Request, Unknown};
use prost_types::Timestamp;
use signalbox_api::{
    convert::Violations,
    v1::{ReconcileLedgerRequest, ReconcileLedgerResponse, reconcile_ledger_response::Difference},
};
use signalbox_ports::{
    Identity, SpentAway, SpentQuery, SpentRequests,
    ledger::{SettledQuery, SettledRequest},
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// What ended so long ago is settled and stored by now, where nothing is away.
const SETTLED_BY: Duration = Duration::from_secs(15);
/// How late a settlement may be to be found without being looked for by its request.
const LATE: Duration = Duration::from_secs(15 * 60);
/// How much of the window is compared at a time: what agrees is forgotten after each.
const SLICE: Duration = Duration::from_secs(60 * 60);
/// Rows that are read together.
const AT_ONCE: usize = 1_000;
/// The year 2000: before it nothing was spent.
const BEGINNING: Duration = Duration::from_secs(946_684_800);

/// Answers `ReconcileLedger`.
pub(crate) async fn reconcile(
    dependencies: &Dependencies,
    _: &Identity,
    request: ReconcileLedgerRequest,
) -> Result<ReconcileLedgerResponse, Failure> {
    let now = dependencies.clock.now();
    let mut violations = Violations::default();
    if !request.tenant_id.is_empty() {
        check_id(&request.tenant_id, "tenant_id", &mut violations);
    }
    let page = Page::of(&request, &mut violations);
    let (start, end) = window(&request, now, &mut violations);
    check_kept(start, now, dependencies.options.retention, &mut violations);
    violations.into_result()?;
    let spent = dependencies.spent.clone().ok_or_else(|| {
        let message = "there is no usage store to compare with: configure one, or peers.ingest";
        Failure::new(ErrorReason::Unavailable, message)
    })?;
    let mut comparison =
        Comparison { dependencies, spent, tenant_id: request.tenant_id, now, book: Book::default() };
    comparison.read(start, end).await?;
    comparison.look_again().await?;
    let book = comparison.book;
    let mut differences = book.differences(page.after());
    differences.truncate(page.ask());
    let next_page_token = page.cut(&mut differences, |last: &Difference| {
        vec![last.tenant_id.clone(), last.request_id.clone(), last.budget_id.clone()]
    });
    let (ledger_nano_eur, usage_nano_eur) = book.sums();
    let Unknown { requests: unknown_requests, amount: unknown_nano_eur } = book.unknown();
    Ok(ReconcileLedgerResponse {
        differences,
        next_page_token,
        ledger_nano_eur,
        usage_nano_eur,
        requests: book.requests(),
        unknown_requests,
        unknown_nano_eur,
    })
}

fn window(
    request: &ReconcileLedgerRequest,
    now: SystemTime,
    violations: &mut Violations,
) -> (SystemTime, SystemTime) {
    let read = |time: Timestamp| SystemTime::try_from(time).ok().filter(|time| *time >= beginning());
    let start = request.start_time.and_then(read);
    violations.check(start.is_some(), || "start_time", || "is required: a time since the year 2000");
    let by_now = now.checked_sub(SETTLED_BY).unwrap_or(now);
    let end = request.end_time.map_or(Some(by_now), read);
    violations.check(end.is_some(), || "end_time", || "must be a time since the year 2000");
    let (start, end) = (start.unwrap_or(by_now), end.unwrap_or(by_now));
    let ordered = request.start_time.is_none() || start < end;
    violations.check(
        ordered,
        || "start_time",
        || "must be before end_time, which is a little before now where it is left out",
    );
    (start, end.min(now))
}

/// Of what is older only the usage store knows: each request would be a difference.
fn check_kept(start: SystemTime, now: SystemTime, retention: Option<Duration>, violations: &mut Violations) {
    let Some(retention) = retention else { return };
    let is_gone = now.duration_since(start).is_ok_and(|age| age > retention);
    let days = retention.as_secs() / (24 * 60 * 60);
    let message = || format!("is too long ago: budgets.retention_days keeps settlements for {days} days");
    violations.check(!is_gone, || "start_time", message);
}

fn beginning() -> SystemTime {
    UNIX_EPOCH + BEGINNING
}

/// A comparison under way.
struct Comparison<'a> {
    dependencies: &'a Dependencies,
    spent: Arc<dyn SpentRequests>,
    tenant_id: String,
    now: SystemTime,
    book: Book,
}

impl Comparison<'_> {
    /// Reads both sides, an hour at a time.
    async fn read(&mut self, start: SystemTime, end: SystemTime) -> Result<(), Failure> {
        let mut from = start;
        while from < end {
            let until = (from + SLICE).min(end);
            self.read_usage(from, until).await?;
            self.read_ledger(from, until).await?;
            from = until;
        }
        self.read_ledger(end, (end + LATE).min(self.now)).await
    }

    async fn read_usage(&mut self, from: SystemTime, until: SystemTime) -> Result<(), Failure> {
        let tenant_id = self.tenant_id.clone();
        let mut query = SpentQuery { tenant_id, request_id: None, from, until, page: None };
        loop {
            let page = self.spent.page(&query).await.map_err(|error| away(&error))?;
            page.requests.iter().for_each(|request| self.book.spent(request));
            match page.next {
                Some(next) => query.page = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn read_ledger(&mut self, from: SystemTime, until: SystemTime) -> Result<(), Failure> {
        if from >= until {
            return Ok(());
        }
        for row in settled(self.dependencies, &self.tenant_id, None, (from, until)).await? {
            self.book.settled(&row);
        }
        Ok(())
    }

    /// What does not agree by time is compared by request: it may have ended in the window and been settled after, or
    /// have ended before and been settled in it.
    async fn look_again(&mut self) -> Result<(), Failure> {
        for requests in self.book.open().chunks(AT_ONCE) {
            let ids = requests.iter().map(|request| request.1.clone()).collect();
            let ever = (beginning(), self.now + SLICE);
            let rows = settled(self.dependencies, &self.tenant_id, Some(ids), ever).await?;
            for request in requests {
                let own = rows.iter().filter(|row| row.tenant_id == request.0 && row.request_id == request.1);
                let spent = self.spent_ever(request).await?;
                self.book.replace(request, &spent, own);
            }
        }
        Ok(())
    }

    async fn spent_ever(&self, request: &Request) -> Result<Vec<signalbox_ports::SpentRequest>, Failure> {
        let (tenant_id, request_id) = request.clone();
        let (from, until) = (beginning(), self.now + SLICE);
        let mut query = SpentQuery { tenant_id, request_id: Some(request_id), from, until, page: None };
        let mut found = Vec::new();
        loop {
            let page = self.spent.page(&query).await.map_err(|error| away(&error))?;
            found.extend(page.requests.into_iter().filter(|spent| spent.tenant_id == request.0));
            match page.next {
                Some(next) => query.page = Some(next),
                None => return Ok(found),
            }
        }
    }
}

/// All that the ledger settled in a window.
async fn settled(
    dependencies: &Dependencies,
    tenant_id: &str,
    request_ids: Option<Vec<String>>,
    (from, until): (SystemTime, SystemTime),
) -> Result<Vec<SettledRequest>, Failure> {
    let tenant_id = tenant_id.to_owned();
    let mut query = SettledQuery { tenant_id, request_ids, from, until, after: None, most: AT_ONCE };
    let mut all = Vec::new();
    loop {
        let rows = dependencies.ledger.settled(&query).await.map_err(failure::of_ledger)?;
        let last = rows.last().filter(|_| rows.len() >= AT_ONCE);
        query.after =
            last.map(|last| (last.tenant_id.clone(), last.request_id.clone(), last.budget_id.clone()));
        all.extend(rows);
        if query.after.is_none() {
            return Ok(all);
        }
    }
}

fn away(error: &SpentAway) -> Failure {
    tracing::warn!(%error, "the usage store cannot be asked");
    Failure::new(ErrorReason::Unavailable, "the usage store cannot be reached; try again")
}
