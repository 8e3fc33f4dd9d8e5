//! What the ledger says, against the limit, the usage store and what clients were told.

use super::{
    crowd::{Answered, TENANT},
    field::{BUDGET, Field, told},
};
use signalbox_api::v1::{
    BudgetStatus, LedgerEntry, ListLedgerEntriesRequest, ListRequestsRequest, ReconcileLedgerRequest,
    UsageEvent, UsageFilter, ledger_entry::Kind, usage_service_client::UsageServiceClient,
};
use signalbox_kit::{Clock as _, SystemClock};
use signalbox_testkit::Fleet;
use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// How long it may take until all is settled: accounts of whoever was killed wait for what may come again.
const PATIENCE: Duration = Duration::from_secs(100);
const LOOK_EVERY: Duration = Duration::from_millis(500);
const PAGE: i32 = 1000;

/// What was found. Amounts are in nano-EUR.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The limit.
    pub limit: i64,
    /// What the ledger has settled.
    pub settled: i64,
    /// By how much the limit was passed.
    pub over: i64,
    /// T2: by how much requests cost more than was reserved for them. Nothing else may pass the limit.
    pub debt: i64,
    /// T4: what was left when everybody was refused.
    pub left: i64,
    /// And the most that may be.
    pub left_bound: i64,
    /// Settlements in the ledger.
    pub settlements: usize,
    /// Of them estimates, as of requests whose router was killed.
    pub estimated: usize,
    /// What was booked without knowing what it was spent on.
    pub written_off: i64,
    /// T5: questions for leases, of routers since they were started last.
    pub questions: f64,
    /// Everything that is not as it must be.
    pub problems: Vec<String>,
}

/// Waits until all is settled, lets the routers end, and judges.
pub(super) async fn reach(
    field: &mut Field,
    answered: &[Answered],
    limit: i64,
    questions: f64,
) -> Result<Verdict, String> {
    let at_rest = rest(field).await?;
    field.stop_routers().await;
    let end = field.status().await?;
    let (entries, events) = (entries(field).await?, events(field).await?);
    let mut verdict = Verdict {
        limit,
        settled: end.settled_nano_eur,
        over: (end.settled_nano_eur - limit).max(0),
        debt: events.values().map(debt).sum(),
        left: limit - end.settled_nano_eur,
        left_bound: left_bound(field.fleet.routers.len(), limit, &events),
        settlements: entries.iter().filter(|entry| entry.kind() == Kind::Settle).count(),
        estimated: entries.iter().filter(|entry| entry.kind() == Kind::Settle && entry.estimated).count(),
        written_off: sum(&entries, Kind::WriteOff),
        questions,
        problems: Vec::new(),
    };
    let mut problems = Vec::new();
    problems.extend(against_limit(&verdict, &at_rest, &end));
    problems.extend(against_usage(&entries, &events));
    problems.extend(against_answers(answered, &events));
    verdict.problems = problems;
    Ok(verdict)
}

/// Waits until ledger and usage store agree and nothing is reserved.
async fn rest(field: &Field) -> Result<BudgetStatus, String> {
    let began = Instant::now();
    let (mut before, mut why) = (0, String::new());
    while began.elapsed() < PATIENCE {
        sleep(LOOK_EVERY).await;
        match (field.status().await, difference(field).await) {
            (Ok(status), Ok(None)) if status.reserved_nano_eur == 0 && status.settled_nano_eur == before => {
                return Ok(status);
            }
            (Ok(status), difference) => {
                before = status.settled_nano_eur;
                why = format!("{status:?}, {difference:?}");
            }
            (Err(problem), _) => why = problem,
        }
    }
    Err(format!("not all was settled within {PATIENCE:?}: {why}"))
}

/// The first request on which ledger and usage store differ.
async fn difference(field: &Field) -> Result<Option<String>, String> {
    let now = SystemClock.now();
    let hour = Duration::from_secs(3600);
    let request = ReconcileLedgerRequest {
        tenant_id: TENANT.to_owned(),
        start_time: Some((now - hour).into()),
        end_time: Some((now + hour).into()),
        ..ReconcileLedgerRequest::default()
    };
    let answer = field.budgets().reconcile_ledger(request).await.map_err(told)?.into_inner();
    Ok(answer.differences.first().map(|difference| format!("{difference:?}")))
}

async fn entries(field: &Field) -> Result<Vec<LedgerEntry>, String> {
    let mut request = ListLedgerEntriesRequest {
        tenant_id: TENANT.to_owned(),
        budget_id: BUDGET.to_owned(),
        kinds: vec![Kind::Settle.into(), Kind::WriteOff.into()],
        page_size: PAGE,
        ..ListLedgerEntriesRequest::default()
    };
    let mut all = Vec::new();
    loop {
        let page = field.budgets().list_ledger_entries(request.clone()).await.map_err(told)?.into_inner();
        all.extend(page.entries);
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

/// What was stored of the tenant's requests that the budget pays, by event id.
async fn events(field: &Field) -> Result<BTreeMap<String, UsageEvent>, String> {
    let mut client = UsageServiceClient::new(field.ingester.keyed(Fleet::ADMIN_KEY));
    let filter = UsageFilter { tenant_ids: vec![TENANT.to_owned()], ..UsageFilter::default() };
    let mut request =
        ListRequestsRequest { filter: Some(filter), page_size: PAGE, ..ListRequestsRequest::default() };
    let mut all = BTreeMap::new();
    loop {
        let page = client.list_requests(request.clone()).await.map_err(told)?.into_inner();
        let paid = page.events.into_iter().filter(|event| !event.charges.is_empty());
        all.extend(paid.map(|event| (event.event_id.clone(), event)));
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

fn cost(event: &UsageEvent) -> i64 {
    event.cost.as_ref().map_or(0, |cost| cost.nano_eur)
}

fn reserved(event: &UsageEvent) -> i64 {
    event.charges.iter().map(|charge| charge.reserved_nano_eur).max().unwrap_or_default()
}

fn debt(event: &UsageEvent) -> i64 {
    (cost(event) - reserved(event)).max(0)
}

fn sum(entries: &[LedgerEntry], kind: Kind) -> i64 {
    entries.iter().filter(|entry| entry.kind() == kind).map(|entry| entry.amount_nano_eur).sum()
}

/// Each router may keep two slices idle, or what the dearest request needs.
fn left_bound(routers: usize, limit: i64, events: &BTreeMap<String, UsageEvent>) -> i64 {
    let dearest = events.values().map(reserved).max().unwrap_or_default();
    i64::try_from(routers).unwrap_or(i64::MAX) * (dearest + limit / 50)
}

fn against_limit(verdict: &Verdict, at_rest: &BudgetStatus, end: &BudgetStatus) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |holds: bool, problem: String| problems.extend((!holds).then_some(problem));
    let Verdict { over, debt, left, left_bound, limit, .. } = verdict;
    check(over <= debt, format!("the limit is passed by {over}, of which {debt} is debt"));
    check(left <= left_bound, format!("{left} were left of {limit}, more than {left_bound}"));
    check(
        at_rest.leased_nano_eur <= *left_bound,
        format!("{} lie idle, more than {left_bound}", at_rest.leased_nano_eur),
    );
    let held = (end.leased_nano_eur, end.reserved_nano_eur);
    check(held == (0, 0), format!("leased and reserved are {held:?} when all routers have ended"));
    let whole = end.free_nano_eur + end.settled_nano_eur;
    check(whole == *limit, format!("free and settled are {whole}, the limit {limit}"));
    problems
}

/// The ledger has each account once, at its cost, and no other; nothing had to be written off.
fn against_usage(entries: &[LedgerEntry], events: &BTreeMap<String, UsageEvent>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut settled: HashMap<&str, i64> = HashMap::new();
    for entry in entries {
        match entry.kind() {
            Kind::Settle if settled.insert(&entry.source_id, entry.amount_nano_eur).is_some() => {
                problems.push(format!("{} is settled twice", entry.request_id));
            }
            Kind::Settle => {}
            _ => problems.push(format!("{entry:?}")),
        }
    }
    for (id, event) in events {
        match settled.remove(id.as_str()) {
            Some(amount) if amount == cost(event) => {}
            Some(amount) => {
                problems.push(format!(
                    "{} is settled at {amount} in place of {}",
                    event.request_id,
                    cost(event)
                ));
            }
            None => problems.push(format!("{} is not settled", event.request_id)),
        }
    }
    problems.extend(settled.into_keys().map(|id| format!("{id} is settled and nobody knows it")));
    problems.truncate(20);
    problems
}

/// Whoever got an answer is accounted for, at the cost that was told.
fn against_answers(answered: &[Answered], events: &BTreeMap<String, UsageEvent>) -> Vec<String> {
    let costs: HashMap<&str, i64> =
        events.values().map(|event| (event.request_id.as_str(), cost(event))).collect();
    let lost =
        answered.iter().filter(|answer| costs.get(answer.request_id.as_str()) != Some(&answer.nano_eur));
    let tell = |answer: &Answered| format!("{answer:?} is accounted at {:?}", costs.get(&*answer.request_id));
    lost.take(20).map(tell).collect()
}
