//! Requests as they end, for those who watch.

use crate::read::filter;
use futures_util::{Stream, StreamExt, stream};
use signalbox_api::{
    convert::Violations,
    v1::{StreamUsageResponse, UsageEvent, UsageFilter},
};
use signalbox_ports::usage_facts;
use signalbox_types::Failure;
use std::sync::Arc;
use tokio::sync::{
    Notify,
    broadcast::{self, Receiver, Sender, error::RecvError},
};
use tokio_util::sync::CancellationToken;

/// What has been stored, from now on. Clones share their watchers. One who is too slow misses some.
#[derive(Debug, Clone)]
pub struct Tail {
    events: Sender<Heard>,
    watched: Arc<Notify>,
    closed: CancellationToken,
}

/// An event, and how many were missed before it on the way here.
#[derive(Debug, Clone)]
struct Heard(Arc<UsageEvent>, u64);

impl Tail {
    /// `room`: events that a watcher may be behind.
    pub fn new(room: usize) -> Self {
        Self {
            events: broadcast::channel(room.max(1)).0,
            watched: Arc::default(),
            closed: CancellationToken::new(),
        }
    }

    /// Sends everybody home: a watcher never goes by itself, and would hold up the end of the process.
    pub fn close(&self) {
        self.closed.cancel();
    }

    /// Whether anybody watches.
    pub fn is_watched(&self) -> bool {
        self.events.receiver_count() > 0
    }

    /// Returns once somebody watches.
    pub async fn watched(&self) {
        while !self.is_watched() {
            self.watched.notified().await;
        }
    }

    /// Tells an event that was heard elsewhere, after so many that were missed.
    pub fn hear(&self, event: UsageEvent, missed: u64) {
        let _nobody_watches = self.events.send(Heard(Arc::new(event), missed));
    }

    pub(crate) fn tell(&self, events: impl IntoIterator<Item = UsageEvent>) {
        if self.is_watched() {
            events.into_iter().for_each(|event| self.hear(event, 0));
        }
    }

    /// Events that a filter lets through.
    pub(crate) fn follow(
        &self,
        filter: UsageFilter,
    ) -> Result<impl Stream<Item = StreamUsageResponse> + Send + use<>, Failure> {
        let mut violations = Violations::default();
        filter::check(&filter, &mut violations);
        violations.into_result()?;
        let events = self.events.subscribe();
        self.watched.notify_one();
        let seen = stream::unfold((events, filter), |(mut events, filter)| async move {
            let next = next(&mut events, &filter).await?;
            Some((next, (events, filter)))
        });
        Ok(seen.take_until(self.closed.clone().cancelled_owned()))
    }
}

/// `None` when there will be no more. Those passed over are counted whatever the filter says of them: they are gone.
async fn next(events: &mut Receiver<Heard>, filter: &UsageFilter) -> Option<StreamUsageResponse> {
    let mut skipped = 0;
    loop {
        match events.recv().await {
            Ok(Heard(event, missed)) => {
                skipped += missed;
                if usage_facts::matches(&event, filter) {
                    return Some(StreamUsageResponse { event: Some(Arc::unwrap_or_clone(event)), skipped });
                }
            }
            Err(RecvError::Lagged(more)) => skipped += more,
            Err(RecvError::Closed) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::event;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn a_watcher_sees_what_it_asked_for_and_hears_what_it_missed() {
        let tail = Tail::new(4);
        let filter = UsageFilter { tenant_ids: vec!["acme".to_owned()], ..UsageFilter::default() };
        let mut seen = std::pin::pin!(tail.follow(filter).unwrap());
        let other = UsageEvent { tenant_id: "other".to_owned(), ..event("other") };
        tail.tell([event("e1"), other]);
        let first = seen.next().await.unwrap();
        assert_eq!((first.event.unwrap().event_id.as_str(), first.skipped), ("e1", 0));
        tail.tell((2..=10).map(|number| event(&format!("e{number}"))));
        let next = seen.next().await.unwrap();
        assert_eq!((next.event.unwrap().event_id.as_str(), next.skipped), ("e7", 6));
        assert_eq!(seen.by_ref().take(3).collect::<Vec<_>>().await.len(), 3);
        assert!(seen.next().now_or_never().is_none(), "it waits for more");
        tail.close();
        assert_eq!(seen.next().await, None);
    }
}
