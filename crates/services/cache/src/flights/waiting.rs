//! A place in the line.

use super::{FlightKey, Flights, Landed};
use std::sync::Arc;
use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

/// What somebody in line hears.
#[derive(Debug)]
pub(crate) enum News {
    /// Here is the answer.
    Landed(Arc<Landed>),
    /// It leads now: in this process, and perhaps in the store too.
    Lead { in_store: bool },
    /// There will be none to share.
    Alone,
}

/// A place in the line. If it is left in the moment in which it becomes the lead, the lead goes to the next.
#[derive(Debug)]
pub(crate) struct Waiting {
    heard: oneshot::Receiver<News>,
    flights: Flights,
    key: FlightKey,
    owner: String,
}

impl Waiting {
    pub(super) fn new(
        heard: oneshot::Receiver<News>,
        flights: Flights,
        key: FlightKey,
        owner: String,
    ) -> Self {
        Self { heard, flights, key, owner }
    }

    /// The news, if it comes in time.
    pub(crate) async fn news(mut self, until: Instant) -> Option<News> {
        match timeout_at(until, &mut self.heard).await {
            Ok(news) => Some(news.unwrap_or(News::Alone)),
            Err(_) => None,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.heard.close();
        if let Ok(News::Lead { .. }) = self.heard.try_recv() {
            self.flights.release(self.key, &self.owner);
        }
    }
}
