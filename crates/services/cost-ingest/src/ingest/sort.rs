//! The good and the bad of what was received.

use super::batch::Held;
use crate::check;
use signalbox_ports::{Delivery, Letter};
use std::{
    collections::{HashMap, hash_map::Entry},
    time::SystemTime,
};

/// What was received, sorted.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// To be stored.
    pub(super) good: Vec<Held>,
    /// To be set aside.
    pub(super) letters: Vec<Letter>,
    /// Sequences of those whose event is among the good a second time.
    pub(super) twice: Vec<u64>,
}

pub(super) fn sort(deliveries: Vec<Delivery>, now: SystemTime) -> Sorted {
    let mut sorted = Sorted::default();
    let mut places = HashMap::with_capacity(deliveries.len());
    for Delivery { sequence, payload, again, taken_at } in deliveries {
        // By the bus' clock: a wrong one here must not make good accounts absurd.
        match check::read(&payload, taken_at) {
            Ok(event) => match places.entry(event.event_id.clone()) {
                Entry::Vacant(place) => {
                    place.insert(sorted.good.len());
                    sorted.good.push(Held { sequence, again, payload, event });
                }
                Entry::Occupied(place) => {
                    sorted.twice.push(sequence);
                    if let Some(first) = sorted.good.get_mut(*place.get()) {
                        first.again |= again;
                    }
                }
            },
            Err(rejected) => sorted.letters.push(Letter {
                sequence,
                reason: rejected.reason,
                detail: rejected.detail,
                event_id: rejected.event_id,
                tenant_id: rejected.tenant_id,
                set_aside_at: now,
                payload,
            }),
        }
    }
    sorted
}
