//! What is sent and not acknowledged.

use async_nats::jetstream::{
    context::{PublishAckFuture, PublishError},
    publish::PublishAck,
};
use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesOrdered};
use prost::Message as _;
use signalbox_api::{account::encode_within, v1::UsageEvent};
use signalbox_ports::Position;
use std::{collections::VecDeque, future::IntoFuture as _, time::SystemTime};

type Ack = BoxFuture<'static, Result<PublishAck, PublishError>>;

/// Entries under way, in the order they were sent.
#[derive(Default)]
pub(super) struct Window {
    acks: FuturesOrdered<Ack>,
    entries: VecDeque<(Position, Option<SystemTime>)>,
    last: Option<Position>,
    confirmable: Option<Position>,
    unconfirmed: usize,
}

/// What came of the oldest entries.
#[derive(Debug, Default)]
pub(super) struct Acked {
    pub(super) new: u64,
    /// Those that the stream had already.
    pub(super) repeats: u64,
    /// Of the entry after these.
    pub(super) failure: Option<PublishError>,
}

impl Window {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The last that was sent.
    pub(super) fn last(&self) -> Option<Position> {
        self.last
    }

    pub(super) fn oldest(&self) -> Option<SystemTime> {
        self.entries.front()?.1
    }

    pub(super) fn push(&mut self, position: Position, ended: Option<SystemTime>, ack: PublishAckFuture) {
        self.acks.push_back(ack.into_future());
        self.entries.push_back((position, ended));
        self.last = Some(position);
    }

    /// Waits for the oldest, then takes all that are ready. May be dropped while it waits.
    pub(super) async fn acked(&mut self) -> Acked {
        let mut acked = Acked::default();
        let mut ack = self.acks.next().await;
        while let Some(outcome) = ack {
            match outcome {
                Ok(taken) if taken.duplicate => acked.repeats += 1,
                Ok(_) => acked.new += 1,
                Err(error) => {
                    acked.failure = Some(error);
                    break;
                }
            }
            self.confirmable = self.entries.pop_front().map(|(position, _)| position);
            self.unconfirmed += 1;
            ack = self.acks.next().now_or_never().flatten();
        }
        acked
    }

    /// How many are acknowledged and not confirmed.
    pub(super) fn unconfirmed(&self) -> usize {
        self.unconfirmed
    }

    /// Everything up to there can be confirmed.
    pub(super) fn take_confirmable(&mut self) -> Option<Position> {
        self.unconfirmed = 0;
        self.confirmable.take()
    }
}

/// An entry in the length that the servers take. An account that is longer is sent without what is not money. Of something
/// else its beginning is kept, to be looked at.
pub(super) fn fitting(payload: Vec<u8>, max_payload: usize) -> Vec<u8> {
    // The rest is for headers, here and on its way to the dead letters.
    let limit = max_payload - max_payload / 8;
    if payload.len() <= limit {
        return payload;
    }
    tracing::error!(bytes = payload.len(), limit, "an account is longer than NATS takes and is shortened");
    match UsageEvent::decode(payload.as_slice()) {
        Ok(event) => encode_within(&event, limit),
        Err(_) => payload[..limit].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::v1::{Cost, Decision};

    #[test]
    fn an_account_too_long_for_the_bus_keeps_its_money() {
        let event = UsageEvent {
            event_id: "e1".to_owned(),
            decision: Some(Decision::default()),
            route_reason: "x".repeat(5000),
            cost: Some(Cost { nano_eur: 42, ..Cost::default() }),
            ..UsageEvent::default()
        };
        let bytes = event.encode_to_vec();
        assert_eq!(fitting(bytes.clone(), 1 << 20), bytes);
        let shorter = UsageEvent::decode(fitting(bytes, 1000).as_slice()).unwrap();
        assert_eq!((shorter.event_id, shorter.cost.unwrap().nano_eur), (event.event_id, 42));
        assert_eq!(fitting(vec![0xff; 5000], 800).len(), 700);
    }
}
