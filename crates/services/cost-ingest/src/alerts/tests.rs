//! The watch over the embedded store, with accounts as requests leave them, minute by minute.

use super::*;
use crate::{progress::Progress, samples};
use signalbox_anomaly::{Minute, Timing, shipped};
use signalbox_api::v1::{ListAlertsRequest, UsageEvent, alert::State, usage_event::Outcome};
use signalbox_kit::Clock;
use signalbox_ports::{
    AlertBus, AlertHook, AlertNews, BusAway, NotTold,
    usage_store::{Batch, UsageStore},
};
use signalbox_sqlite::{Database, usage::SqliteUsage};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};
use tokio::sync::mpsc;

const MINUTE: Duration = Duration::from_secs(60);
const LAG: Duration = Duration::from_secs(30);

/// A clock that is set by hand.
#[derive(Debug)]
struct Hand(Mutex<SystemTime>);

impl Clock for Hand {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}

/// A store, and the time.
struct World {
    store: Arc<dyn UsageStore>,
    clock: Arc<Hand>,
    _dir: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(Hand(Mutex::new(*samples::NOW)));
        let database = Database::open(&dir.path().join("usage.db")).await.unwrap();
        let store = Arc::new(SqliteUsage::new(Arc::new(database), clock.clone()));
        store.migrate().await.unwrap();
        Self { store, clock, _dir: dir }
    }

    /// A watcher that knows nothing yet, and where it lists alerts.
    fn watcher(&self) -> (AlertWatcher, SharedAlerts) {
        let options = WatchOptions {
            rules: shipped(),
            timing: Timing { close_after: 3, escalate_after: 10 },
            history_days: 7,
            interval: Duration::from_secs(15),
            lag: LAG,
        };
        let (progress, alerts) = (Progress::default(), SharedAlerts::default());
        progress.caught_up(*samples::NOW + Duration::from_secs(1_000_000));
        let watcher =
            AlertWatcher::new(self.store.clone(), progress, alerts.clone(), self.clock.clone(), options);
        (watcher, alerts)
    }

    /// A minute of so many requests passes, of which so many failed.
    async fn minute(&self, calls: u64, failed: u64) {
        let start = self.clock.now();
        let events = (0..calls).map(|number| ended(start, number, number < failed)).collect();
        let token = format!("{start:?}");
        self.store.insert(&Batch { token, events, suspects: Vec::new() }).await.unwrap();
        *self.clock.0.lock().unwrap() = start + MINUTE;
    }
}

fn ended(minute: SystemTime, number: u64, failed: bool) -> UsageEvent {
    let end = minute + Duration::from_millis(number * 100);
    let mut event = samples::event(&format!("{end:?}"));
    event.end_time = Some(end.into());
    event.start_time = Some((end - Duration::from_secs(1)).into());
    if failed {
        event.outcome = Outcome::Failed.into();
        event.error_reason = "VENDOR_ERROR".to_owned();
        for attempt in event.attempts.iter_mut().filter_map(|made| made.attempt.as_mut()) {
            attempt.error_reason = "VENDOR_ERROR".to_owned();
        }
    }
    event
}

fn listed(alerts: &SharedAlerts, states: &[State]) -> Vec<(String, State)> {
    let states = states.iter().map(|state| *state as i32).collect();
    let request = ListAlertsRequest { states, ..ListAlertsRequest::default() };
    let page = alerts.page(&request).unwrap();
    page.alerts.into_iter().map(|alert| (alert.rule.clone(), alert.state())).collect()
}

fn gauge(rule: &str, vendor: &str) -> bool {
    let start = format!("signalbox_alert_open{{model=\"gpt-6-luna\",rule=\"{rule}\",state=\"");
    let text = signalbox_kit::telemetry::metrics::text();
    text.lines().any(|line| line.starts_with(&start) && line.contains(vendor))
}

#[tokio::test]
async fn a_failing_vendor_opens_an_alert_and_mended_it_closes() {
    let world = World::new().await;
    let (mut watcher, alerts) = world.watcher();
    for _ in 0..5 {
        world.minute(60, 0).await;
    }
    assert_eq!(watcher.look().await.unwrap(), []);

    world.minute(60, 40).await;
    let opened = watcher.look().await.unwrap();
    assert_eq!(opened.len(), 1, "seen before the minute counts as complete");
    assert_eq!(listed(&alerts, &[]), [("failing-now".to_owned(), State::Open)]);
    assert!(gauge("failing-now", "openai"));

    let mut told = Vec::new();
    for _ in 0..5 {
        world.minute(60, 0).await;
        told.extend(watcher.look().await.unwrap());
    }
    assert_eq!(told.iter().map(|alert| &alert.id).collect::<Vec<_>>(), [&opened[0].id]);
    assert_eq!(listed(&alerts, &[]), []);
    assert_eq!(listed(&alerts, &[State::Closed]), [("failing-now".to_owned(), State::Closed)]);
    assert!(!gauge("failing-now", "openai"));
}

#[tokio::test]
async fn a_restart_finds_its_alerts_again_and_tells_what_stands() {
    let world = World::new().await;
    let (mut first, alerts) = world.watcher();
    world.minute(60, 40).await;
    for _ in 0..4 {
        world.minute(60, 0).await;
    }
    first.look().await.unwrap();
    world.minute(60, 50).await;
    first.look().await.unwrap();
    let both = [State::Open, State::Closed];
    let before = listed(&alerts, &both);
    assert_eq!(before.len(), 2);

    let (mut second, again) = world.watcher();
    let told = second.look().await.unwrap();
    assert_eq!(listed(&again, &both), before);
    assert_eq!(told.len(), 2, "what stands, and what closed within the hour");

    let ids: BTreeSet<_> = told.iter().map(|alert| alert.id.clone()).collect();
    assert!(ids.iter().all(|id| id.starts_with("failing-now/openai/gpt-6-luna/")), "{ids:?}");
}

#[tokio::test]
async fn a_minute_that_may_not_be_complete_is_not_judged_as_a_whole() {
    let world = World::new().await;
    let (mut watcher, _) = world.watcher();
    world.minute(10, 0).await;
    watcher.look().await.unwrap();
    assert_eq!(watcher.next(), Some(Minute::of(*samples::NOW)));
    *world.clock.0.lock().unwrap() += LAG;
    watcher.look().await.unwrap();
    assert_eq!(watcher.next(), Some(Minute::of(*samples::NOW).next()));
}

/// Hears news, and is away or ill as long as it is told to.
#[derive(Debug, Default)]
struct Ear {
    heard: Mutex<Vec<String>>,
    failures: Mutex<Vec<NotTold>>,
}

impl Ear {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl AlertHook for Ear {
    async fn post(&self, news: &AlertNews) -> Result<(), NotTold> {
        if let Some(failure) = self.failures.lock().unwrap().pop() {
            return Err(failure);
        }
        self.heard.lock().unwrap().push(news.id.clone());
        Ok(())
    }
}

/// A bus that knows what it was told, for all that publish on it.
#[derive(Debug, Default)]
struct Bus {
    told: Mutex<BTreeSet<String>>,
    away: bool,
}

#[async_trait::async_trait]
impl AlertBus for Bus {
    async fn publish(&self, news: &AlertNews) -> Result<bool, BusAway> {
        if self.away {
            return Err(BusAway("no server".to_owned()));
        }
        Ok(self.told.lock().unwrap().insert(news.id.clone()))
    }
}

async fn carry(courier: Courier, ids: &[&str]) {
    let (tell, carried) = mpsc::channel(ids.len());
    for id in ids {
        tell.send(AlertNews { id: (*id).to_owned(), alert: Default::default() }).await.unwrap();
    }
    drop(tell);
    courier.run(carried).await;
}

#[tokio::test]
async fn of_several_watchers_one_tells_the_receiver() {
    let (bus, ear) = (Arc::new(Bus::default()), Arc::new(Ear::default()));
    let courier = || Courier { bus: Some(bus.clone()), hook: Some(ear.clone()) };
    carry(courier(), &["a-open", "a-closed"]).await;
    carry(courier(), &["a-open", "a-closed", "b-open"]).await;
    assert_eq!(ear.heard(), ["a-open", "a-closed", "b-open"]);
}

#[tokio::test]
async fn while_the_bus_is_away_a_receiver_is_rather_told_twice_than_not_at_all() {
    let ear = Arc::new(Ear::default());
    for _ in 0..2 {
        let bus = Arc::new(Bus { away: true, ..Bus::default() });
        carry(Courier { bus: Some(bus), hook: Some(ear.clone()) }, &["a-open"]).await;
    }
    assert_eq!(ear.heard(), ["a-open", "a-open"]);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_ill_is_told_again_in_order_and_one_that_refuses_is_left_alone() {
    let ear = Arc::new(Ear::default());
    *ear.failures.lock().unwrap() = vec![NotTold::Ever("it answers 404".to_owned()), yet(), yet(), yet()];
    carry(Courier { bus: None, hook: Some(ear.clone()) }, &["a-open", "a-closed"]).await;
    assert_eq!(ear.heard(), ["a-closed"], "the first met three illnesses and a refusal");

    *ear.failures.lock().unwrap() = vec![yet(), yet()];
    carry(Courier { bus: None, hook: Some(ear.clone()) }, &["b-open", "b-closed"]).await;
    assert_eq!(ear.heard(), ["a-closed", "b-open", "b-closed"]);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_stays_ill_is_given_up_after_minutes() {
    let ear = Arc::new(Ear::default());
    *ear.failures.lock().unwrap() = (0..1_000).map(|_| yet()).collect();
    let begun = tokio::time::Instant::now();
    carry(Courier { bus: None, hook: Some(ear.clone()) }, &["a-open"]).await;
    assert!((MINUTE * 5..MINUTE * 7).contains(&begun.elapsed()));
    assert!(ear.failures.lock().unwrap().len() > 980, "and not hammered");
}

fn yet() -> NotTold {
    NotTold::Yet("it answers 502".to_owned())
}
