//! What replicas hear of: filled by one reader of the store's changes in each process, heard by any number of
//! watchers.

mod active;
mod reader;

pub(crate) use active::Active;
pub(crate) use reader::{Away, Reader};

use crate::{
    metrics,
    replicas::{Recalls, Uses},
};
use futures_util::{Stream, StreamExt, future, stream};
use signalbox_api::v1::{
    WatchAdmissionResponse,
    watch_admission_response::{Change, Heartbeat},
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::broadcast::{self, Sender, error::RecvError},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// News that a watcher may be behind. One that falls further behind is sent home, and begins anew.
const ROOM: usize = 1_024;

/// What replicas hear of, and what this process remembers between requests. Clones share it.
#[derive(Debug, Clone)]
pub struct Feed {
    news: Sender<Arc<News>>,
    state: Arc<State>,
    uses: Uses,
    recalls: Recalls,
    active: Active,
}

#[derive(Debug)]
struct State {
    /// There is an API key.
    authentication_required: AtomicBool,
    /// Changes are not heard of for too long, or not yet: nobody is told that no key is needed before that is known.
    blind: AtomicBool,
    /// When the store last answered.
    heard_at: Mutex<Option<Instant>>,
    /// Replicas that hold leases.
    replicas: AtomicU32,
    closed: CancellationToken,
}

impl Default for State {
    fn default() -> Self {
        let (authentication_required, heard_at, replicas, closed) = Default::default();
        Self { authentication_required, blind: AtomicBool::new(true), heard_at, replicas, closed }
    }
}

/// Something to be told.
#[derive(Debug, Clone, PartialEq)]
struct News {
    /// The replica it is for; `None` for all.
    replica_id: Option<String>,
    /// What; `None` when changes are not heard of any more: whoever relies on hearing of them must not.
    change: Option<Change>,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            news: broadcast::channel(ROOM).0,
            state: Arc::default(),
            uses: Uses::default(),
            recalls: Recalls::default(),
            active: Active::default(),
        }
    }
}

impl Feed {
    /// Sends every watcher home: none goes by itself, and they would hold up the end of the process.
    pub fn close(&self) {
        self.state.closed.cancel();
    }

    /// Whether replicas can rely on it: the store answers.
    pub fn is_heard(&self) -> bool {
        !self.state.blind.load(Ordering::Acquire)
    }

    /// When keys were last used.
    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }

    /// When budgets were called back last.
    pub(crate) fn recalls(&self) -> &Recalls {
        &self.recalls
    }

    /// Budgets that replicas hold leases of.
    pub(crate) fn active(&self) -> &Active {
        &self.active
    }

    /// What concerns a replica, from now on, and a heartbeat at once.
    pub(crate) fn follow(
        &self,
        replica_id: &str,
    ) -> Result<impl Stream<Item = Result<WatchAdmissionResponse, Failure>> + Send + use<>, Failure> {
        let news = self.news.subscribe();
        if !self.is_heard() {
            return Err(blind());
        }
        metrics::watchers(self.news.receiver_count());
        let first = WatchAdmissionResponse { change: Some(self.heartbeat()) };
        let replica_id = replica_id.to_owned();
        let rest = stream::unfold(Some(news), move |news| {
            let replica_id = replica_id.clone();
            async move {
                let mut news = news?;
                match next(&mut news, &replica_id).await? {
                    Ok(change) => Some((Ok(WatchAdmissionResponse { change: Some(change) }), Some(news))),
                    Err(failure) => Some((Err(failure), None)),
                }
            }
        });
        let all = stream::once(future::ready(Ok(first))).chain(rest);
        Ok(all.take_until(self.state.closed.clone().cancelled_owned()))
    }

    fn heartbeat(&self) -> Change {
        let authentication_required = self.state.authentication_required.load(Ordering::Acquire);
        // Each replica watches at one of the processes that serve budgets, and most hold leases: both are too few at times.
        let watching = u32::try_from(self.news.receiver_count()).unwrap_or(u32::MAX);
        let live_replicas = self.state.replicas.load(Ordering::Acquire).max(watching);
        Change::Heartbeat(Heartbeat { authentication_required, live_replicas })
    }

    /// Tells all replicas, or one.
    fn tell(&self, replica_id: Option<String>, change: Change) {
        let _nobody_watches = self.news.send(Arc::new(News { replica_id, change: Some(change) }));
    }

    /// Changes are heard of.
    fn heard(&self) {
        *self.state.heard_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.set_blind(false);
    }

    /// Tells that this process lives; but not when the store has been away for `blind_for`. It waits for nothing: a store
    /// that is slow for a moment must not look like a process that died.
    pub(crate) fn beat(&self, blind_for: Duration) {
        let heard_at = *self.state.heard_at.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = heard_at.is_some_and(|at| at.elapsed() < blind_for);
        self.set_blind(!heard);
        if heard {
            self.tell(None, self.heartbeat());
        }
        metrics::watchers(self.news.receiver_count());
    }

    fn set_authentication_required(&self) {
        self.state.authentication_required.store(true, Ordering::Release);
    }

    fn is_authentication_required(&self) -> bool {
        self.state.authentication_required.load(Ordering::Acquire)
    }

    /// How many replicas hold leases.
    pub(crate) fn set_replicas(&self, replicas: u32) {
        self.state.replicas.store(replicas, Ordering::Release);
    }

    /// Whether changes are heard of.
    fn set_blind(&self, blind: bool) {
        if self.state.blind.swap(blind, Ordering::AcqRel) != blind && blind {
            let _nobody_watches = self.news.send(Arc::new(News { replica_id: None, change: None }));
        }
    }
}

/// `None` when there will be no more.
async fn next(news: &mut broadcast::Receiver<Arc<News>>, watcher: &str) -> Option<Result<Change, Failure>> {
    loop {
        match news.recv().await {
            Ok(told) if told.replica_id.as_ref().is_none_or(|id| id == watcher) => {
                return Some(told.change.clone().ok_or_else(blind));
            }
            Ok(_for_another) => {}
            Err(RecvError::Lagged(_)) => {
                let message = "the watcher is too slow and has missed changes; begin anew";
                return Some(Err(Failure::new(ErrorReason::Unavailable, message)));
            }
            Err(RecvError::Closed) => return None,
        }
    }
}

fn blind() -> Failure {
    Failure::new(ErrorReason::Unavailable, "changes cannot be heard of: the tenant store is away")
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use signalbox_api::v1::Tenant;

    fn tenant(id: &str) -> Change {
        Change::Tenant(Tenant { tenant_id: id.to_owned(), ..Tenant::default() })
    }

    /// One that the store was looked at for.
    fn feed() -> Feed {
        let feed = Feed::default();
        feed.set_blind(false);
        feed
    }

    #[tokio::test]
    async fn a_replica_hears_what_concerns_it_after_a_heartbeat() {
        let feed = feed();
        let mut heard = std::pin::pin!(feed.follow("r1").unwrap());
        assert!(matches!(heard.next().await.unwrap().unwrap().change, Some(Change::Heartbeat(_))));
        feed.tell(Some("r2".to_owned()), tenant("others"));
        feed.tell(Some("r1".to_owned()), tenant("own"));
        feed.tell(None, tenant("everybodys"));
        assert_eq!(heard.next().await.unwrap().unwrap().change, Some(tenant("own")));
        assert_eq!(heard.next().await.unwrap().unwrap().change, Some(tenant("everybodys")));
        assert!(heard.next().now_or_never().is_none(), "it waits for more");
        feed.close();
        assert!(heard.next().await.is_none());
    }

    #[tokio::test]
    async fn a_slow_watcher_is_sent_home_rather_than_kept_news_for() {
        let feed = feed();
        let mut heard = std::pin::pin!(feed.follow("r1").unwrap());
        (0..=ROOM).for_each(|number| feed.tell(None, tenant(&number.to_string())));
        heard.next().await.unwrap().unwrap();
        let failure = heard.next().await.unwrap().unwrap_err();
        assert_eq!(failure.reason, ErrorReason::Unavailable);
        assert!(heard.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_away_for_a_moment_does_not_silence_the_process() {
        let (feed, half_a_minute) = (Feed::default(), Duration::from_secs(30));
        feed.heard();
        let mut heard = std::pin::pin!(feed.follow("r1").unwrap());
        heard.next().await.unwrap().unwrap();
        tokio::time::advance(Duration::from_secs(29)).await;
        feed.beat(half_a_minute);
        assert!(matches!(heard.next().await.unwrap().unwrap().change, Some(Change::Heartbeat(_))));
        tokio::time::advance(Duration::from_secs(1)).await;
        feed.beat(half_a_minute);
        assert!(heard.next().await.unwrap().is_err(), "keys may have been revoked meanwhile");
        assert!(!feed.is_heard());
        feed.heard();
        assert!(feed.is_heard());
    }

    #[tokio::test]
    async fn nobody_relies_on_a_feed_that_is_blind() {
        assert!(Feed::default().follow("r1").is_err(), "nobody has looked yet");
        let feed = feed();
        let mut heard = std::pin::pin!(feed.follow("r1").unwrap());
        heard.next().await.unwrap().unwrap();
        feed.set_blind(true);
        assert!(heard.next().await.unwrap().is_err());
        assert!(feed.follow("r2").is_err());
        feed.set_blind(false);
        assert!(feed.follow("r2").is_ok());
    }
}
