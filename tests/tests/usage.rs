//! What was used, as operators ask for it: all in one process with a file, and as a fleet with NATS and ClickHouse.

use futures_util::{
    StreamExt as _,
    stream::{self, FuturesUnordered},
};
use prost_types::Timestamp;
use serde_json::{Value, json};
use signalbox_api::v1::{
    self, ExportUsageRequest, GenerateRequest, GetRequestRequest, ListDeadLettersRequest,
    ListRequestsRequest, QueryUsageRequest, ReplayDeadLettersRequest, StreamUsageRequest, UsageDimension,
    UsageEvent, UsageFilter, UsageRow,
    dead_letter::Reason,
    export_usage_request::{Detail, Format},
    usage_event::Outcome,
    usage_service_client::UsageServiceClient,
};
use signalbox_ports::UsageLog as _;
use signalbox_spool::Spool;
use signalbox_testkit::{
    ClickHouseEngine, Keyed, NatsServer, Options, Signalbox, Topology, World,
    ask::{Answer, Mode, ask, open, request},
    both_topologies, built, eventually, eventually_some, merge, own,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use std::{
    collections::HashSet,
    path::PathBuf,
    pin::pin,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tonic::{Code, Status};

const LUNA: &str = "openai/gpt-6-luna";
const HAIKU: &str = "anthropic/claude-haiku-5-5";

/// Signalbox, and who stores what it accounts for.
struct Newsroom {
    world: World,
    /// Beside a fleet: the ingester, and what it reads from and writes to.
    apart: Option<Apart>,
}

struct Apart {
    ingester: Signalbox,
    /// Where they are not those of a system that is up.
    engines: Option<Engines>,
}

struct Engines {
    clickhouse: ClickHouseEngine,
    _nats: NatsServer,
    _dir: TempDir,
}

type Client = UsageServiceClient<Keyed>;

/// What requests are about.
fn article() -> String {
    own("article-7")
}

/// Whose requests are told of.
fn morning() -> String {
    own("morning")
}

impl Newsroom {
    async fn start(topology: Topology) -> Self {
        let config = json!({
            "aliases": {"pair": {"targets": [LUNA, HAIKU]}},
            "failover": {"quick_retry_delay": "10ms"},
            "plans": {"small": {"requests": 2}},
            "tenants": {(morning()): {"plan": "small"}},
            "usage": {"ingest": {"batch_interval": "50ms"}},
        });
        if topology != Topology::Remote {
            let world = World::start(topology, config).await;
            let ingester = (topology == Topology::Up).then(|| world.signalbox.part("ingest-1"));
            let apart = ingester.map(|ingester| Apart { ingester, engines: None });
            return Self { world, apart };
        }
        let (nats, clickhouse) = (NatsServer::start().await, ClickHouseEngine::start().await);
        let mut config = config;
        merge(
            &mut config,
            json!({
                "nats": {"servers": [nats.url()]},
                "usage": {"store": {"clickhouse": {
                    "url": clickhouse.url(),
                    "user": ClickHouseEngine::USER,
                    "password": {"env": "CLICKHOUSE_PASSWORD"},
                }}},
            }),
        );
        let dir = tempfile::tempdir().unwrap();
        let ingester = Signalbox::serve(Options {
            config: Some(written(&dir, &config)),
            roles: "ingest",
            env: vec![("CLICKHOUSE_PASSWORD".to_owned(), ClickHouseEngine::PASSWORD.to_owned())],
            ..Options::default()
        })
        .await;
        let world = World::start(topology, config).await;
        let engines = Some(Engines { clickhouse, _nats: nats, _dir: dir });
        let apart = Apart { ingester, engines };
        Self { world, apart: Some(apart) }
    }

    fn usage(&self) -> Client {
        let process = self.apart.as_ref().map_or(&self.world.signalbox.router, |apart| &apart.ingester);
        UsageServiceClient::new(process.channel())
    }

    async fn ask(&self, mode: Mode, id: &str) -> Result<Answer, Status> {
        ask(&mut self.world.operator(), mode, named(id)).await
    }

    /// The sums once so many requests are counted.
    async fn sums(&self, requests: u64) -> UsageRow {
        self.counted(&everything(), requests).await.remove(0)
    }

    async fn counted(&self, question: &QueryUsageRequest, requests: u64) -> Vec<UsageRow> {
        let counted = || async {
            let rows = self.usage().query_usage(question.clone()).await.ok()?.into_inner().rows;
            (rows.iter().map(|row| row.requests).sum::<u64>() >= requests).then_some(rows)
        };
        let rows = eventually_some("all requests are counted", counted).await;
        assert_eq!(rows.iter().map(|row| row.requests).sum::<u64>(), requests);
        rows
    }

    async fn account(&self, id: &str) -> UsageEvent {
        let question = GetRequestRequest { request_id: id.to_owned(), tenant_id: morning() };
        let found = || async { self.usage().get_request(question.clone()).await.ok()?.into_inner().event };
        eventually_some("the request is found", found).await
    }
}

fn written(dir: &TempDir, config: &Value) -> PathBuf {
    let file = dir.path().join("ingest.yaml");
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

fn named(id: &str) -> GenerateRequest {
    GenerateRequest {
        request_id: id.to_owned(),
        tenant_id: morning(),
        reference: article(),
        ..request("pair", "Why is the sky blue?")
    }
}

/// Sums of the tenant over all time, as far as a test can have made requests.
fn everything() -> QueryUsageRequest {
    let filter = UsageFilter { tenant_ids: vec![morning()], ..Default::default() };
    QueryUsageRequest {
        start_time: Some(Timestamp { seconds: 1_700_000_000, nanos: 0 }),
        filter: Some(filter),
        ..Default::default()
    }
}

fn cost(row: &UsageRow) -> i64 {
    row.cost.as_ref().unwrap().nano_eur
}

async fn sums_are_what_callers_were_told(topology: Topology) {
    let room = Newsroom::start(topology).await;
    let mut told = 0;
    for (mode, id) in [(Mode::Unary, "whole"), (Mode::Stream, "streamed")] {
        told += room.ask(mode, id).await.unwrap().route.total_cost.unwrap().nano_eur;
    }
    room.world.fault(Vendor::Openai, "malformed");
    let moved = room.ask(Mode::Unary, "moved").await.unwrap();
    assert_eq!(moved.attempts().last().unwrap(), "anthropic");
    told += moved.route.total_cost.unwrap().nano_eur;
    room.world.vendors.clear_faults();
    room.world.fault(Vendor::Openai, "trickle=200");
    let mut stream = open(&mut room.world.operator(), named("left")).await.unwrap();
    stream.message().await.unwrap();
    drop(stream);
    let left = room.account("left").await;
    assert_eq!(left.outcome(), Outcome::Cancelled);
    told += left.cost.unwrap().nano_eur;

    let row = room.sums(4).await;
    assert_eq!((cost(&row), row.cost.as_ref().unwrap().unknown), (told, false));
    assert_eq!((row.cancelled, row.failed, row.fallbacks), (1, 0, 1));
    let account = room.account("moved").await;
    let attempts: Vec<&str> =
        account.attempts.iter().map(|made| &*made.attempt.as_ref().unwrap().vendor).collect();
    assert_eq!(attempts.last(), Some(&"anthropic"));
    assert_eq!(row.attempts as usize, 3 + attempts.len());

    let by_vendor = QueryUsageRequest { group_by: vec![UsageDimension::Vendor as i32], ..everything() };
    let rows = room.counted(&by_vendor, 4).await;
    assert_eq!(rows.iter().map(cost).sum::<i64>(), told);
    assert!(rows.is_sorted_by(|one, next| cost(one) >= cost(next)), "dearest first");
    let overage = v1::GetOverageRequest { tenant_id: morning(), month: String::new() };
    let overage = room.usage().get_overage(overage).await.unwrap().into_inner();
    assert_eq!((&*overage.plan, overage.overages[0].used, overage.overages[0].over), ("small", 4, 2));
}

async fn the_requests_of_an_article_are_found_and_others_are_not(topology: Topology) {
    let room = Newsroom::start(topology).await;
    for number in 0..5 {
        room.ask(Mode::Unary, &format!("r{number}")).await.unwrap();
    }
    room.sums(5).await;
    let filter = UsageFilter { references: vec![article()], ..Default::default() };
    let mut question = ListRequestsRequest { filter: Some(filter), page_size: 2, ..Default::default() };
    let mut seen = Vec::new();
    loop {
        let page = room.usage().list_requests(question.clone()).await.unwrap().into_inner();
        seen.extend(page.events.into_iter().map(|event| event.request_id));
        question.page_token = page.next_page_token;
        if question.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, ["r4", "r3", "r2", "r1", "r0"]);
    let unknown = GetRequestRequest { request_id: "r9".to_owned(), tenant_id: morning() };
    let refusal = Refusal::from(room.usage().get_request(unknown).await.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::NotFound, "NOT_FOUND"));
}

async fn whoever_watches_sees_requests_end(topology: Topology) {
    let room = Newsroom::start(topology).await;
    let filter = UsageFilter { tenant_ids: vec![morning()], ..Default::default() };
    let watch = StreamUsageRequest { filter: Some(filter) };
    let mut seen = room.usage().stream_usage(watch).await.unwrap().into_inner();
    // A watcher over NATS is heard of a moment later, so one request may be too early.
    let early = async {
        for number in 0.. {
            room.ask(Mode::Unary, &format!("early-{number}")).await.unwrap();
        }
    };
    let first = tokio::select! {
        first = seen.message() => first.unwrap().unwrap().event.unwrap(),
        () = early => unreachable!("it goes on"),
    };
    assert!(first.request_id.starts_with("early-"), "{first:?}");
    room.ask(Mode::Stream, "last").await.unwrap();
    loop {
        let event = seen.message().await.unwrap().unwrap().event.unwrap();
        if event.request_id == "last" {
            assert_eq!(event, room.account("last").await);
            break;
        }
    }
}

async fn a_watcher_does_not_hold_up_the_drain(topology: Topology) {
    let mut room = Newsroom::start(topology).await;
    let mut seen = room.usage().stream_usage(StreamUsageRequest::default()).await.unwrap().into_inner();
    let process = match &mut room.apart {
        Some(apart) => &mut apart.ingester,
        None => &mut room.world.signalbox.router,
    };
    let told = Instant::now();
    process.terminate();
    assert!(seen.message().await.is_ok_and(|event| event.is_none()), "it is told the end");
    assert!(process.ended().await.success());
    assert!(told.elapsed() < Duration::from_secs(15), "half of the drain's thirty seconds");
}

async fn an_export_is_what_the_sums_say(topology: Topology) {
    let room = Newsroom::start(topology).await;
    for number in 0..6 {
        room.ask(Mode::ALL[number % 2], &format!("r{number}")).await.unwrap();
    }
    let row = room.sums(6).await;
    let ended = room.account("r0").await.end_time.unwrap();
    let month = month_of(ended);
    let ask = |format, detail, allow_open| ExportUsageRequest {
        tenant_id: morning(),
        month: month.clone(),
        format: format as i32,
        detail: detail as i32,
        allow_open,
    };
    let refused = room.usage().export_usage(ask(Format::Csv, Detail::Daily, false)).await.unwrap_err();
    assert_eq!(Refusal::from(refused).reason, "MONTH_OPEN");
    for format in [Format::Csv, Format::Parquet] {
        for (detail, rows) in [(Detail::Daily, 1), (Detail::Request, 6), (Detail::Attempt, 6)] {
            let pieces = room.usage().export_usage(ask(format, detail, true)).await.unwrap().into_inner();
            let pieces: Vec<_> = pieces.map(Result::unwrap).collect().await;
            let last = pieces.last().unwrap();
            let summary = last.summary.as_ref().unwrap();
            assert_eq!(summary.cost.as_ref().unwrap().nano_eur, cost(&row), "{format:?} {detail:?}");
            assert_eq!((last.rows_done, last.rows_total), (rows, rows), "{format:?} {detail:?}");
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.data.to_vec()).collect();
            match format {
                Format::Parquet => assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")),
                _ => assert_eq!(csv_sum(&bytes, "cost_nano_eur"), cost(&row), "{detail:?}"),
            }
        }
    }
}

/// The month, as in `2026-11`.
fn month_of(time: Timestamp) -> String {
    time.to_string()[..7].to_owned()
}

/// The sum of a column of a file without quotes.
fn csv_sum(bytes: &[u8], column: &str) -> i64 {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == column).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().parse::<i64>().unwrap()).sum()
}

async fn a_question_that_cannot_be_meant_is_refused_field_by_field(topology: Topology) {
    let room = Newsroom::start(topology).await;
    let question = QueryUsageRequest { page_size: -1, group_by: vec![99], ..Default::default() };
    let refusal = Refusal::from(room.usage().query_usage(question).await.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::InvalidArgument, "INVALID_REQUEST"));
    assert_eq!(refusal.fields, ["page_size", "start_time", "group_by[0]"]);
}

both_topologies!(
    sums_are_what_callers_were_told,
    the_requests_of_an_article_are_found_and_others_are_not,
    whoever_watches_sees_requests_end,
    a_watcher_does_not_hold_up_the_drain,
    an_export_is_what_the_sums_say,
    a_question_that_cannot_be_meant_is_refused_field_by_field,
);

/// Leaves accounts in the spool of a process that does not run.
fn leave(dir: &std::path::Path, events: impl IntoIterator<Item = UsageEvent>) {
    let options = signalbox_spool::Options {
        dir: dir.join("spool"),
        max_bytes: 1 << 30,
        segment_bytes: 32 << 20,
        readers: &[],
    };
    let spool = Spool::open(options).unwrap();
    for event in events {
        spool.append(&event).unwrap();
    }
}

#[tokio::test]
async fn bad_accounts_are_set_aside_with_a_reason_and_can_be_put_back() {
    let mut room = Newsroom::start(Topology::AllInOne).await;
    room.ask(Mode::Unary, "good").await.unwrap();
    let good = room.account("good").await;
    room.world.signalbox.router.terminate();
    room.world.signalbox.router.ended().await;
    let id = |number: usize| format!("00000000-0000-7000-8000-{number:012}");
    let bad = |number: usize, change: fn(&mut UsageEvent)| {
        let mut event = UsageEvent { event_id: id(number), request_id: number.to_string(), ..good.clone() };
        change(&mut event);
        event
    };
    let left = [
        bad(1, |event| event.schema_version = 2),
        bad(2, |event| event.lane = 99),
        bad(3, |event| event.cost.as_mut().unwrap().nano_eur = -1),
        bad(4, |event| event.cost.as_mut().unwrap().nano_eur += 1),
        bad(5, |_| {}),
    ];
    leave(room.world.signalbox.router.data_dir(), left);
    room.world.signalbox.router.restart().await;
    room.sums(2).await;
    let list = async |reason: Reason| {
        let request = ListDeadLettersRequest { reason: reason as i32, ..Default::default() };
        let letters = room.usage().list_dead_letters(request).await.unwrap().into_inner().dead_letters;
        letters.into_iter().map(|letter| (letter.event_id, letter.detail)).collect::<Vec<_>>()
    };
    let told = eventually_some("all are set aside", || async {
        Some(list(Reason::Unspecified).await).filter(|letters| letters.len() == 4)
    });
    let told = told.await;
    let ids: Vec<&str> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, [id(1), id(2), id(3), id(4)]);
    assert!(told[1].1.starts_with("lane: 99 is not"), "{told:?}");
    let replay = ReplayDeadLettersRequest { reason: Reason::InvalidValue as i32, ..Default::default() };
    assert_eq!(room.usage().replay_dead_letters(replay).await.unwrap().into_inner().replayed, 2);
    let again = eventually_some("they fail again", || async {
        Some(list(Reason::InvalidValue).await).filter(|letters| letters.len() == 2)
    });
    assert_eq!(again.await, told[2..]);
    let metrics = room.world.signalbox.router.metrics().await;
    let counted = metrics.text().lines().find(|line| {
        line.starts_with("signalbox_usage_dead_letters_total") && line.contains("invalid_value")
    });
    assert!(counted.is_some_and(|line| line.ends_with(" 4")), "{counted:?}");

    let command = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(built("signalbox"));
        let server = format!("http://{}", room.world.signalbox.router.address());
        let output =
            command.env_clear().env("SIGNALBOX_SERVER", &server).args(arguments).output().await.unwrap();
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, said) = command(&["usage", "replay", "999999"]).await;
    assert!(code == Some(1) && said.contains("no dead letter has the other 1 of these numbers"), "{said}");
    let discard = ["usage", "dead-letters", "discard", "--reason", "invalid-value"];
    let (code, said) = command(&discard).await;
    assert!(code == Some(0) && said.contains("2 discarded"), "{said}");
    assert_eq!((list(Reason::InvalidValue).await.len(), list(Reason::Unspecified).await.len()), (0, 2));
}

#[tokio::test]
async fn a_process_killed_under_load_counts_every_request_once() {
    const REQUESTS: usize = 300;
    let mut room = Newsroom::start(Topology::AllInOne).await;
    for round in 0..3 {
        let asked = stream::iter(0..REQUESTS).map(|number| {
            let mut client = room.world.operator();
            async move {
                let asked = named(&format!("r{round}-{number}"));
                let _may_be_cut_off = ask(&mut client, Mode::ALL[number % 2], asked).await;
            }
        });
        let mut answers = pin!(asked.collect::<Vec<_>>().await.into_iter().collect::<FuturesUnordered<_>>());
        for _ in 0..REQUESTS / 2 {
            answers.next().await;
        }
        // With many under way.
        room.world.signalbox.router.kill().await;
        answers.for_each(|()| async {}).await;
        room.world.signalbox.router.restart().await;
    }
    let written: HashSet<String> =
        room.world.signalbox.accounts().await.into_iter().map(|event| event.event_id).collect();
    let row = room.sums(written.len() as u64).await;
    let costs: i64 = {
        let mut events: Vec<UsageEvent> = room.world.signalbox.accounts().await;
        events.sort_by(|one, other| one.event_id.cmp(&other.event_id));
        events.dedup_by(|one, other| one.event_id == other.event_id);
        events.iter().map(|event| event.cost.as_ref().map_or(0, |cost| cost.nano_eur)).sum()
    };
    assert_eq!(cost(&row), costs);
}

#[tokio::test]
async fn an_ingester_that_nothing_can_reach_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.env_clear().env("SIGNALBOX_DATA_DIR", dir.path());
    let output = command
        .args(["serve", "--role", "ingest", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("list nats.servers in the configuration"), "{said}");
}

#[tokio::test]
async fn tables_are_made_by_a_command_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let mut command = tokio::process::Command::new(built("signalbox"));
        command.env_clear().env("SIGNALBOX_DATA_DIR", dir.path().join("data"));
        let output = command.arg("migrate").output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(dir.path().join("data/usage.db").exists());
}

#[tokio::test]
async fn an_ingester_is_ready_once_it_has_reached_its_store_and_a_router_is_all_the_time() {
    let mut room = Newsroom::start(Topology::Remote).await;
    let apart = room.apart.as_mut().unwrap();
    apart.ingester.kill().await;
    apart.engines.as_mut().unwrap().clickhouse.kill().await;
    apart.ingester.restart().await;
    let missing = eventually_some("it says what is missing", || async {
        apart.ingester.ready().await.err().filter(|missing| !missing.contains("not reached yet"))
    });
    assert!(missing.await.contains("usage store: the usage store is away"));
    let away = apart.ingester.metrics().await.sum("signalbox_usage_store_away", &[]);
    assert!((away - 1.0).abs() < f64::EPSILON, "and operators are told");
    ask(&mut room.world.operator(), Mode::Unary, named("meanwhile")).await.unwrap();
    assert_eq!(room.world.signalbox.router.ready().await, Ok(()));
    apart.engines.as_mut().unwrap().clickhouse.restart().await;
    eventually("it is ready", || async { apart.ingester.ready().await.is_ok() }).await;
    room.sums(1).await;
}
