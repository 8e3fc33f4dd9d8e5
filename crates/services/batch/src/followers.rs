//! Who waits in this process: for results, or for work.

use std::{fmt, sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};

/// Wakes those who follow results when some may have come, and lets them go when the process ends. Clones share it.
#[derive(Clone, Default)]
pub struct Followers(Arc<Signals>);

#[derive(Default)]
struct Signals {
    news: watch::Sender<News>,
    work: Notify,
}

#[derive(Debug, Clone, Copy, Default)]
struct News {
    steps: u64,
    closed: bool,
}

impl fmt::Debug for Followers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followers").field("count", &self.0.news.receiver_count()).finish()
    }
}

impl Followers {
    /// The process ends: nobody waits any more. Open streams end, and their callers go on elsewhere.
    pub fn close(&self) {
        self.0.news.send_modify(|news| news.closed = true);
    }

    /// Results may have come, or jobs ended.
    pub(crate) fn wake(&self) {
        self.0.news.send_modify(|news| news.steps = news.steps.wrapping_add(1));
    }

    /// There is work: a worker that waits looks again.
    pub(crate) fn work(&self) {
        self.0.work.notify_waiters();
    }

    /// Waits until there may be work, for so long at most.
    pub(crate) async fn wait_for_work(&self, patience: Duration) {
        let _work_or_time = timeout(patience, self.0.work.notified()).await;
    }

    /// One who waits from now on.
    pub(crate) fn join(&self) -> Follower {
        Follower(self.0.news.subscribe())
    }
}

/// One who waits.
#[derive(Debug)]
pub(crate) struct Follower(watch::Receiver<News>);

impl Follower {
    /// Waits for news, for so long at most: what other processes do is not heard of. Whether the process goes on.
    pub(crate) async fn wait(&mut self, patience: Duration) -> bool {
        if !self.goes_on() {
            return false;
        }
        let _news_or_time = timeout(patience, self.0.changed()).await;
        self.goes_on()
    }

    fn goes_on(&mut self) -> bool {
        !self.0.borrow_and_update().closed
    }
}
