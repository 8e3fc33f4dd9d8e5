//! Settling over a real spool, at a ledger that does as it is told and in time that does not pass by itself.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

use signalbox_api::{
    status::to_status,
    v1::{
        Cost, EndReplicaRequest, EndReplicaResponse, Lane, SettleRequest, SettleResponse, Settlement,
        UsageCharge, UsageEvent, budget_service_client::BudgetServiceClient, settle_response::Refusal,
    },
};
use signalbox_kit::{FixedClock, Hop, hop};
use signalbox_ports::{Outbox, UsageLog};
use signalbox_settler::{Runs, Settler, SettlerOptions};
use signalbox_spool::{LEDGER, Options, Spool};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::HashSet,
    convert::Infallible,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, body::Body, server::Grpc};
use tonic_prost::ProstCodec;
use tower::service_fn;

/// A ledger. Clones share it.
#[derive(Debug, Clone, Default)]
struct Ledger(Arc<Mutex<Books>>);

#[derive(Debug, Default)]
struct Books {
    away: bool,
    /// It books, and its answer is lost.
    deaf: bool,
    refused: HashSet<String>,
    unreadable: HashSet<String>,
    calls: usize,
    /// Settlements in the order they came first, and ends as `end ID`.
    told: Vec<String>,
    booked: Vec<Settlement>,
}

fn away() -> Status {
    to_status(&Failure::new(ErrorReason::Unavailable, "away"))
}

impl Ledger {
    fn change(&self, change: impl FnOnce(&mut Books)) {
        change(&mut self.0.lock().unwrap());
    }

    fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().told.clone()
    }

    fn settle(&self, request: SettleRequest) -> Result<Response<SettleResponse>, Status> {
        let mut books = self.0.lock().unwrap();
        books.calls += 1;
        let ids: Vec<_> =
            request.settlements.iter().map(|settlement| settlement.settlement_id.clone()).collect();
        if ids.iter().any(|id| books.unreadable.contains(id)) {
            return Err(to_status(&Failure::invalid("settlements[0].charges", "nobody can read this")));
        }
        if books.away {
            return Err(away());
        }
        let (refused, good): (Vec<_>, Vec<_>) =
            request.settlements.into_iter().partition(|it| books.refused.contains(&it.settlement_id));
        for settlement in good {
            if !books.told.contains(&settlement.settlement_id) {
                books.told.push(settlement.settlement_id.clone());
                books.booked.push(settlement);
            }
        }
        if books.deaf {
            return Err(away());
        }
        let refusals = refused
            .into_iter()
            .map(|it| Refusal { settlement_id: it.settlement_id, reason: "unknown reservation".to_owned() });
        Ok(Response::new(SettleResponse { refusals: refusals.collect() }))
    }

    fn end(&self, request: &EndReplicaRequest) -> Result<Response<EndReplicaResponse>, Status> {
        let mut books = self.0.lock().unwrap();
        if books.away || books.deaf {
            return Err(away());
        }
        books.told.push(format!("end {}", request.replica_id));
        Ok(Response::new(EndReplicaResponse::default()))
    }

    fn hop(&self) -> Hop {
        let ledger = self.clone();
        hop::local(service_fn(move |request: http::Request<Body>| {
            let (settling, ending) = (ledger.clone(), ledger.clone());
            let settle = service_fn(move |request: Request<SettleRequest>| {
                let answer = settling.settle(request.into_inner());
                async { answer }
            });
            let end = service_fn(move |request: Request<EndReplicaRequest>| {
                let answer = ending.end(request.get_ref());
                async { answer }
            });
            async move {
                let answer = if request.uri().path().ends_with("/Settle") {
                    Grpc::new(ProstCodec::default()).unary(settle, request).await
                } else {
                    Grpc::new(ProstCodec::default()).unary(end, request).await
                };
                Ok::<_, Infallible>(answer)
            }
        }))
    }
}

/// A run of a process: its spool, and its settler at work.
struct Run {
    spool: Arc<Spool>,
    stop: CancellationToken,
    settling: JoinHandle<()>,
}

impl Run {
    fn begin(dir: &Path, id: &str, ledger: &Ledger) -> Self {
        let options =
            Options { dir: dir.to_owned(), max_bytes: 1 << 20, segment_bytes: 512, readers: &[LEDGER] };
        let spool = Arc::new(Spool::open(options).unwrap());
        let outbox = Arc::new(spool.outbox(LEDGER).unwrap());
        let options = SettlerOptions {
            last_attempt: Duration::from_secs(30),
            clock: Arc::new(FixedClock(SystemTime::UNIX_EPOCH)),
        };
        let client = BudgetServiceClient::new(ledger.hop());
        let settler = Settler::new(Runs::begin(dir, id).unwrap(), outbox, client, options);
        let stop = CancellationToken::new();
        let settling = tokio::spawn(settler.run(stop.clone()));
        Self { spool, stop, settling }
    }

    fn account(&self, id: &str) {
        self.spool.append(&account(id)).unwrap();
    }

    /// The process dies.
    async fn die(self) {
        self.settling.abort();
        let _aborted = self.settling.await;
    }

    async fn end(self) {
        self.stop.cancel();
        self.settling.await.unwrap();
    }
}

/// An account of 7 nano-EUR, on a budget.
fn account(id: &str) -> UsageEvent {
    let charge = UsageCharge {
        budget_id: "monthly".to_owned(),
        period_id: "2026-11".to_owned(),
        lease_id: "lease".to_owned(),
        reserved_nano_eur: 50,
        ..UsageCharge::default()
    };
    UsageEvent {
        event_id: id.to_owned(),
        request_id: format!("request-{id}"),
        cost: Some(Cost { nano_eur: 7, ..Cost::default() }),
        charges: vec![charge],
        ..UsageEvent::default()
    }
}

const A_WHILE: Duration = Duration::from_secs(15);

#[tokio::test(start_paused = true)]
async fn what_a_budget_pays_is_settled_in_batches_with_the_accounts_own_id() {
    let (dir, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    let run = Run::begin(dir.path(), "a", &ledger);
    for number in 0..250 {
        run.account(&number.to_string());
    }
    run.spool.append(&UsageEvent { charges: Vec::new(), ..account("free of charge") }).unwrap();
    sleep(A_WHILE).await;
    let unknown = Some(Cost { nano_eur: 7, unknown: true, ..Cost::default() });
    run.spool.append(&UsageEvent { cost: unknown, ..account("unknown") }).unwrap();
    sleep(A_WHILE).await;
    let books = ledger.0.lock().unwrap();
    assert_eq!((books.booked.len(), books.calls), (251, 4));
    let first = &books.booked[0];
    assert_eq!((&*first.settlement_id, &*first.request_id), ("0", "request-0"));
    assert_eq!((first.amount_nano_eur, first.estimated, &first.charges), (7, false, &account("0").charges));
    let last = books.booked.last().unwrap();
    assert_eq!((last.amount_nano_eur, last.estimated), (50, true), "what was set aside");
}

#[tokio::test(start_paused = true)]
async fn while_the_ledger_is_away_settlements_wait_and_none_is_lost() {
    let (dir, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    ledger.change(|books| books.away = true);
    let run = Run::begin(dir.path(), "a", &ledger);
    run.account("1");
    sleep(Duration::from_secs(3600)).await;
    let calls = ledger.0.lock().unwrap().calls;
    assert!((400..600).contains(&calls), "{calls} calls in an hour");
    run.account("2");
    ledger.change(|books| (books.away, books.deaf) = (false, true));
    sleep(A_WHILE).await;
    ledger.change(|books| books.deaf = false);
    sleep(A_WHILE).await;
    assert_eq!(ledger.told(), ["1", "2"]);
    assert!(run.spool.outbox(LEDGER).unwrap().read(None, 9).unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_died_is_ended_once_all_that_it_left_is_settled() {
    let (dir, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    ledger.change(|books| books.away = true);
    let run = Run::begin(dir.path(), "a", &ledger);
    run.account("1");
    let _open = run.spool.open(&account("cut off")).unwrap();
    sleep(A_WHILE).await;
    run.die().await;
    let run = Run::begin(dir.path(), "b", &ledger);
    sleep(A_WHILE).await;
    run.die().await;

    let run = Run::begin(dir.path(), "c", &ledger);
    run.account("2");
    sleep(A_WHILE).await;
    assert!(ledger.told().is_empty());
    ledger.change(|books| books.away = false);
    sleep(A_WHILE).await;
    assert_eq!(ledger.told(), ["1", "cut off", "2", "end a", "end b"]);
    run.account("3");
    run.end().await;
    assert_eq!(ledger.told()[5..], ["3", "end c"]);

    let run = Run::begin(dir.path(), "d", &ledger);
    run.end().await;
    assert_eq!(ledger.told()[7..], ["end d"], "an end is told once");
}

#[tokio::test(start_paused = true)]
async fn a_clean_stop_waits_for_the_ledger_only_so_long_and_the_next_run_goes_on() {
    let (dir, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    ledger.change(|books| books.away = true);
    let run = Run::begin(dir.path(), "a", &ledger);
    run.account("1");
    let started = tokio::time::Instant::now();
    run.end().await;
    assert_eq!(started.elapsed(), Duration::from_secs(30));
    ledger.change(|books| books.away = false);
    Run::begin(dir.path(), "b", &ledger).end().await;
    assert_eq!(ledger.told(), ["1", "end a", "end b"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_ledger_refuses_or_cannot_read_holds_nothing_up() {
    let (dir, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    ledger.change(|books| {
        books.refused.insert("refused".to_owned());
        books.unreadable.insert("unreadable".to_owned());
    });
    let run = Run::begin(dir.path(), "a", &ledger);
    ["1", "refused", "unreadable", "2"].into_iter().for_each(|id| run.account(id));
    sleep(A_WHILE).await;
    assert_eq!(ledger.told(), ["1", "2"]);
    run.end().await;
    assert_eq!(ledger.told(), ["1", "2", "end a"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_of_a_batch_job_leaves_what_its_job_has_reserved_for_the_others() {
    let (dir, ledger) = (tempfile::tempdir().unwrap(), Ledger::default());
    let run = Run::begin(dir.path(), "a", &ledger);
    let reserved = |id: &str, lane: Lane| {
        let charge = UsageCharge { reservation_id: "job".to_owned(), ..account(id).charges.remove(0) };
        let charges = vec![UsageCharge { lease_id: String::new(), ..charge }];
        UsageEvent { lane: lane.into(), charges, ..account(id) }
    };
    run.spool.append(&reserved("item", Lane::Batch)).unwrap();
    run.spool.append(&reserved("alone", Lane::Interactive)).unwrap();
    run.spool.append(&UsageEvent { lane: Lane::Batch.into(), ..account("of a lease") }).unwrap();
    sleep(A_WHILE).await;
    let books = ledger.0.lock().unwrap();
    let more: Vec<_> = books.booked.iter().map(|it| (&*it.settlement_id, it.more_follow)).collect();
    assert_eq!(more, [("item", true), ("alone", false), ("of a lease", false)]);
}
