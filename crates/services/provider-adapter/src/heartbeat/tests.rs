mod paid;

use super::*;
use crate::{CallHealth, health::CallEnd};
use arc_swap::ArcSwap;
use async_trait::async_trait;
use futures_util::{Stream, StreamExt as _, stream};
use signalbox_api::{
    convert::duration_from_proto,
    v1::{UsageEvent, WatchHealthResponse, usage_event},
};
use signalbox_kit::{
    FixedClock,
    config::{ConfigHandle, Environment},
};
use signalbox_ports::{
    AnswerStream, BoxAnswerStream, CallOutcome, CallRecord, CallSink, LogFull, OpenAccount, Unlimited,
    UsageLog, VendorApi, VendorReply, VendorTarget,
};
use signalbox_resilience::Sketch;
use signalbox_types::{
    Completion, EmbedRequest, EmbeddingAnswer, ErrorReason, FinishReason, ModelAnswer, Prompt, StreamEvent,
    TokenUsage, UsageSource,
};
use std::{
    io::Write as _,
    pin::Pin,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::SystemTime,
};
use tokio::time::{advance, sleep};

const SECOND: Duration = Duration::from_secs(1);
/// 29 November 2026.
const TODAY: Duration = Duration::from_secs(1_795_910_400);

/// A vendor that answers with one token, or not at all.
#[derive(Debug, Default)]
struct Vendor {
    asked: Mutex<Vec<(String, Prompt)>>,
    down: AtomicBool,
}

impl Vendor {
    fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

struct OneToken(stream::Iter<std::vec::IntoIter<Result<StreamEvent, Failure>>>);

impl Stream for OneToken {
    type Item = Result<StreamEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl AnswerStream for OneToken {
    fn vendor_usage(&self) -> Option<TokenUsage> {
        None
    }
}

#[async_trait]
impl VendorApi for Vendor {
    async fn generate(&self, _: VendorTarget<'_>, _: &Prompt) -> Result<VendorReply<ModelAnswer>, Failure> {
        Err(Failure::new(ErrorReason::Internal, "a heartbeat streams"))
    }

    async fn stream(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<BoxAnswerStream>, Failure> {
        self.asked.lock().unwrap().push((target.model.to_owned(), prompt.clone()));
        if self.down.load(Ordering::Relaxed) {
            return Err(Failure::new(ErrorReason::VendorUnreachable, "down"));
        }
        sleep(SECOND / 2).await;
        let usage = TokenUsage { input: 8, output: 1, source: UsageSource::Vendor, ..TokenUsage::default() };
        let done = Completion {
            id: String::new(),
            finish_reason: FinishReason::Length,
            vendor_finish_reason: "length".to_owned(),
            usage,
            model: target.model.to_owned(),
        };
        let events = vec![Ok(StreamEvent::Text("pong".to_owned())), Ok(StreamEvent::Done(done))];
        let value: BoxAnswerStream = Box::pin(OneToken(stream::iter(events)));
        Ok(VendorReply { value, adjustments: Vec::new(), request_id: String::new(), quota_left: None })
    }

    async fn embed(
        &self,
        _: VendorTarget<'_>,
        _: &EmbedRequest,
    ) -> Result<VendorReply<EmbeddingAnswer>, Failure> {
        Err(Failure::new(ErrorReason::Internal, "a heartbeat streams"))
    }

    async fn count_tokens(&self, _: VendorTarget<'_>, _: &Prompt) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    fn failure_of(&self, status: u16) -> Failure {
        Failure::new(ErrorReason::VendorError, status.to_string())
    }

    fn simulated(&self) -> bool {
        false
    }
}

#[derive(Debug, Default)]
struct Accounts(Mutex<Vec<CallRecord>>);

impl CallSink for Accounts {
    fn record(&self, record: CallRecord) {
        self.0.lock().unwrap().push(record);
    }
}

/// The usage log: events that were closed.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<UsageEvent>>);

impl UsageLog for Log {
    fn open(&self, draft: &UsageEvent) -> Result<OpenAccount, LogFull> {
        assert!(draft.usage.as_ref().unwrap().input_tokens > 0, "{draft:?}");
        Ok(OpenAccount(0))
    }

    fn revise(&self, _: &OpenAccount, _: &UsageEvent) {}

    fn close(&self, _: OpenAccount, event: &UsageEvent) {
        self.0.lock().unwrap().push(event.clone());
    }

    fn append(&self, _: &UsageEvent) -> Result<(), LogFull> {
        Ok(())
    }
}

/// One adapter process, its only vendor, and its accounts.
struct Process {
    vendor: Arc<Vendor>,
    accounts: Arc<Accounts>,
    log: Arc<Log>,
    health: CallHealth,
    others: OtherAdapters,
    dependencies: Dependencies,
}

impl Process {
    fn new(id: &str, config: &str) -> Self {
        Self::at(id, "openai", config, Arc::default())
    }

    fn at(id: &str, name: &str, config: &str, vendor: Arc<Vendor>) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(if config.is_empty() { b"{}" } else { config.as_bytes() }).unwrap();
        let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH + TODAY));
        let env = Environment::new([("OPENAI_API_KEY", "key"), ("OLLAMA_HOST", "127.0.0.1")]);
        let config = ConfigHandle::start(Some(file.path().to_owned()), env, clock.clone()).unwrap();
        let vendors: HashMap<Arc<str>, Arc<dyn VendorApi>> =
            HashMap::from([(name.into(), vendor.clone() as _)]);
        let (accounts, log) = (Arc::<Accounts>::default(), Arc::<Log>::default());
        let health = CallHealth::new(id);
        let dependencies = Dependencies {
            config: Arc::new(config),
            vendors: Arc::new(ArcSwap::from_pointee(vendors)),
            calls: accounts.clone(),
            usage: log.clone(),
            admission: Arc::new(Unlimited),
            health: health.clone(),
            clock,
        };
        Self { vendor, accounts, log, health, others: OtherAdapters::default(), dependencies }
    }

    fn start(&self) {
        tokio::spawn(Heartbeat::new(self.dependencies.clone(), self.others.clone(), 7).run());
    }

    /// A call of a real request.
    fn call(&self) {
        let end = CallEnd {
            outcome: CallOutcome::Answered,
            whole: SECOND,
            first_token: None,
            answer_tokens: 10,
            slow: false,
            hold: None,
            quota_left: None,
        };
        self.health.begin(&ModelRef::new("openai", "gpt-6-sol")).end(&end);
    }

    fn cheapest(&self) -> Option<ModelRef> {
        let mut choices = Choices::default();
        choices.refresh(&self.dependencies, &HeartbeatConfig::default());
        choices.each().first().cloned()
    }
}

/// A report that comes over NATS.
fn report(adapter: &str, vendor: &str, served_ago: Option<Duration>) -> WatchHealthResponse {
    let target = signalbox_api::v1::Target { vendor: vendor.to_owned(), model: "any".to_owned() };
    WatchHealthResponse {
        target: Some(target),
        adapter_id: adapter.to_owned(),
        served_ago: served_ago.map(signalbox_api::convert::duration_to_proto),
        ..Default::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_nobody_calls_is_asked_once_in_each_interval_for_next_to_nothing() {
    let process = Process::new("a", "");
    process.start();
    sleep(SECOND * 29).await;
    assert_eq!(process.vendor.calls(), 0);
    sleep(SECOND * 3).await;
    assert_eq!(process.vendor.calls(), 1);
    sleep(SECOND * 300).await;
    assert!((9..=11).contains(&process.vendor.calls()), "{}", process.vendor.calls());
    let (_, prompt) = process.vendor.asked.lock().unwrap()[0].clone();
    assert_eq!(prompt.max_output_tokens, Some(1));
    assert!(prompt.tools.is_empty() && prompt.messages.len() == 1);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_is_called_anyway_is_left_in_peace() {
    let process = Process::new("a", "");
    process.start();
    for _ in 0..20 {
        sleep(SECOND * 20).await;
        process.call();
    }
    assert_eq!(process.vendor.calls(), 0);
    sleep(SECOND * 33).await;
    assert_eq!(process.vendor.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_answered_another_adapter_is_left_in_peace() {
    let process = Process::new("b", "");
    process.start();
    for _ in 0..10 {
        sleep(SECOND * 10).await;
        process.others.absorb(&report("a", "openai", Some(SECOND * 2)));
    }
    assert_eq!(process.vendor.calls(), 0);
    // What answered too long ago, or is another vendor, is no news.
    sleep(SECOND * 20).await;
    process.others.absorb(&report("a", "openai", Some(SECOND * 22)));
    process.others.absorb(&report("a", "anthropic", Some(SECOND)));
    process.others.absorb(&report("a", "openai", None));
    sleep(SECOND * 16).await;
    assert_eq!(process.vendor.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fleet_asks_once_and_the_next_in_line_steps_in_when_the_first_is_gone() {
    let vendor = Arc::<Vendor>::default();
    let fleet = ["a", "b", "c"].map(|id| Process::at(id, "openai", "", vendor.clone()));
    let mut wires = Vec::new();
    for (index, from) in fleet.iter().enumerate() {
        from.start();
        let to: Vec<OtherAdapters> = fleet
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != index)
            .map(|(_, to)| to.others.clone())
            .collect();
        let mut reports = Box::pin(from.health.watch());
        wires.push(tokio::spawn(async move {
            while let Some(report) = reports.next().await {
                to.iter().for_each(|other| other.absorb(&report));
            }
        }));
    }
    sleep(SECOND * 610).await;
    let asked = |process: &Process| process.accounts.0.lock().unwrap().len();
    let first = asked(&fleet[0]);
    assert!((18..=21).contains(&first), "{first}");
    assert_eq!((asked(&fleet[1]), asked(&fleet[2])), (0, 0));
    // The first is cut off: what it sees is heard no longer.
    wires[0].abort();
    sleep(SECOND * 600).await;
    assert!((16..=21).contains(&asked(&fleet[1])), "{}", asked(&fleet[1]));
    assert_eq!(asked(&fleet[2]), 0);
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_is_accounted_to_nobody_and_does_not_count_as_slow() {
    let process = Process::new("a", "");
    process.start();
    sleep(SECOND * 33).await;
    let record = process.accounts.0.lock().unwrap().pop().unwrap();
    assert!(record.probe && record.outcome == CallOutcome::Answered, "{record:?}");
    assert_eq!(record.tenant_id, "signalbox");
    assert!(record.cost.is_some_and(|cost| cost.nano_eur() > 0), "{record:?}");
    let event = process.log.0.lock().unwrap().pop().unwrap();
    assert_eq!(event.operation(), usage_event::Operation::Probe);
    assert_eq!(event.outcome(), usage_event::Outcome::Succeeded);
    assert_eq!((&*event.tenant_id, &*event.vendor), ("signalbox", "openai"));
    assert_eq!(event.cost.unwrap().nano_eur, record.cost.unwrap().nano_eur());
    assert_eq!((event.usage.unwrap().input_tokens, event.attempts.len()), (8, 1));
    let seen = process.health.watch().boxed().next().await.unwrap();
    assert_eq!((seen.calls, seen.failures), (1, 0));
    assert!(seen.latency_sketch.is_empty(), "its single token says nothing of the pace");
    assert_eq!(Sketch::decode(&seen.time_to_first_token_sketch).unwrap().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_without_answer_is_a_failure_of_the_vendor() {
    let process = Process::new("a", "");
    process.vendor.down.store(true, Ordering::Relaxed);
    process.start();
    sleep(SECOND * 400).await;
    let seen = process.health.watch().boxed().next().await.unwrap();
    assert!(seen.failures >= 8 && seen.failures == seen.calls, "{seen:?}");
    let unserved = seen.unserved_for.and_then(duration_from_proto).unwrap();
    assert!(unserved >= SECOND * 300, "it is on strike: {unserved:?}");
}

#[tokio::test(start_paused = true)]
async fn heartbeats_can_be_switched_off_for_all_or_one_and_on_for_one() {
    for (config, beats) in [
        ("heartbeat: {enabled: false}", false),
        ("vendors: {openai: {heartbeat: {enabled: false}}}", false),
        ("{heartbeat: {enabled: false}, vendors: {openai: {heartbeat: {enabled: true}}}}", true),
    ] {
        let process = Process::new("a", config);
        process.start();
        sleep(SECOND * 33).await;
        assert_eq!(process.vendor.calls() > 0, beats, "{config}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_interval_of_ones_own_is_kept() {
    let process = Process::new("a", "heartbeat: {interval: 5m, max_output_tokens: 3}");
    process.start();
    advance(SECOND).await;
    sleep(SECOND * 298).await;
    assert_eq!(process.vendor.calls(), 0);
    sleep(SECOND * 20).await;
    assert_eq!(process.vendor.calls(), 1);
    assert_eq!(process.vendor.asked.lock().unwrap()[0].1.max_output_tokens, Some(3));
}

#[tokio::test(start_paused = true)]
async fn the_cheapest_model_is_asked_unless_another_is_named() {
    let priced = |input: &str| {
        format!(
            "{{capabilities: [text, streaming], context_window: 1000, prices: {{input: {input}, output: {input}}}}}"
        )
    };
    let thinks = "{capabilities: [text, streaming], context_window: 1000, prices: {input: 0.001, output: 0.001}, parameters: {always_reasons: true}}";
    let free = "{capabilities: [text, streaming], context_window: 1000}";
    let models = |heartbeat: &str| {
        format!(
            "extends: none\nexchange_rate: {{usd_eur: 0.9, as_of: 2026-11-01}}\n\
             vendors: {{openai: {{kind: openai, simulate: true{heartbeat}}}}}\n\
             models:\n  openai/dear: {}\n  openai/cheap: {}\n  openai/thinks: {thinks}\n  openai/unpriced: {free}\n",
            priced("2"),
            priced("0.5"),
        )
    };
    assert_eq!(Process::new("a", &models("")).cheapest(), Some(ModelRef::new("openai", "cheap")));
    let named = Process::new("a", &models(", heartbeat: {model: dear}"));
    assert_eq!(named.cheapest(), Some(ModelRef::new("openai", "dear")));
}

#[tokio::test(start_paused = true)]
async fn an_ollama_server_is_not_made_to_load_a_model_unless_one_is_named() {
    let process = Process::at("a", "ollama", "", Arc::default());
    assert_eq!(process.cheapest(), None);
    let named = "vendors: {ollama: {heartbeat: {model: 'smollm2:135m'}}}";
    let process = Process::at("a", "ollama", named, Arc::default());
    assert_eq!(process.cheapest(), Some(ModelRef::new("ollama", "smollm2:135m")));
}
