//! Events as the stream takes them, for whoever wants to hear them now.
//!
//! The servers publish each event once more when they have stored it, without the ones that were sent twice, to whoever
//! listens. Nothing is kept for a listener, so that one that is slow or away holds nothing up; it is told how many it missed.

use crate::{Nats, subjects::TAIL};
use async_nats::{Message, SubscribeError};
use futures_util::{Stream, StreamExt as _};
use prost::Message as _;
use signalbox_api::v1::UsageEvent;
use std::future::ready;

/// An event that was heard.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The event.
    pub event: UsageEvent,
    /// Messages that were missed just before it.
    pub missed: u64,
}

impl Nats {
    /// Hears all events from now on, through all losses of the connection.
    pub async fn follow_usage(
        &self,
    ) -> Result<impl Stream<Item = Heard> + Send + Unpin + use<>, SubscribeError> {
        let messages = self.client().subscribe(format!("{TAIL}.>")).await?;
        let mut listener = Listener::default();
        Ok(messages.filter_map(move |message| ready(listener.hear(&message))))
    }
}

#[derive(Debug, Default)]
struct Listener {
    last: Option<u64>,
    missed: u64,
}

impl Listener {
    /// The stream numbers its messages without gaps, so that a gap was missed. What is no event is not heard.
    fn hear(&mut self, message: &Message) -> Option<Heard> {
        let sequence: u64 = message.headers.as_ref()?.get("Nats-Sequence")?.as_str().parse().ok()?;
        self.missed += self.last.map_or(0, |last| sequence.saturating_sub(last + 1));
        self.last = Some(sequence);
        let event = UsageEvent::decode(message.payload.clone()).ok()?;
        Some(Heard { event, missed: std::mem::take(&mut self.missed) })
    }
}
