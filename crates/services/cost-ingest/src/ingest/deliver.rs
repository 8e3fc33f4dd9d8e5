//! To the store, whatever it says: away is waited for, and what it refuses is found by halves.

use super::{
    Ingester, LetGo,
    batch::{Held, Suspects, batch},
    hold::Hold,
    pause::{Backoff, Reach},
};
use crate::metrics;
use signalbox_ports::{
    Letter,
    usage_store::{Inserted, StoreFailure},
};
use std::{collections::VecDeque, mem};
use tokio_util::sync::CancellationToken;

/// So many refusals and nothing accepted: it is not the events.
const TELLING: usize = 50;
/// How often events are offered of which the store accepts none.
const ROUNDS: usize = 5;

/// What came of offering events to the store.
#[derive(Debug, Default)]
struct Offered {
    accepted: usize,
    refusals: usize,
    /// Refused alone, and why.
    refused: Vec<(Held, String)>,
    /// Not offered alone, since the store refuses everything.
    untried: Vec<Held>,
    why: String,
}

impl Ingester {
    /// Stores and acknowledges events. Those that the store refuses come back.
    pub(super) async fn store(
        &mut self,
        mut events: Vec<Held>,
        hold: &mut Hold,
        drain: &CancellationToken,
    ) -> Result<Vec<Letter>, LetGo> {
        let (mut backoff, mut rounds) = (Backoff::default(), 0);
        let mut reach = Reach::new("a usage store that refuses nothing");
        loop {
            let offered = self.offer(events, hold, drain).await?;
            rounds += 1;
            let told = offered.untried.is_empty() && (offered.accepted > 0 || rounds >= ROUNDS);
            if told || (offered.untried.is_empty() && offered.refused.is_empty()) {
                let now = self.clock.now();
                return Ok(offered.refused.into_iter().map(|(held, why)| held.refused(&why, now)).collect());
            }
            reach.is_away(&offered.why);
            events = offered.refused.into_iter().map(|(held, _)| held).chain(offered.untried).collect();
            hold.pause(&mut *self.bus, &mut backoff, drain).await?;
        }
    }

    /// Offers events, in ever smaller parts where they are refused.
    async fn offer(
        &mut self,
        events: Vec<Held>,
        hold: &mut Hold,
        drain: &CancellationToken,
    ) -> Result<Offered, LetGo> {
        let mut offered = Offered::default();
        let mut parts = VecDeque::from([events]);
        while let Some(mut part) = parts.pop_front().filter(|part| !part.is_empty()) {
            if offered.accepted == 0 && offered.refusals >= TELLING {
                offered.untried = mem::take(&mut part);
                offered.untried.extend(parts.drain(..).flatten());
                break;
            }
            match self.insert(&part, hold, drain).await? {
                Ok(inserted) => {
                    offered.accepted += part.len();
                    self.stored(part, inserted, hold).await;
                }
                Err(why) => {
                    offered.refusals += 1;
                    offered.why.clone_from(&why);
                    let rest = part.split_off(part.len() / 2);
                    match part.is_empty() {
                        true => offered.refused.extend(rest.into_iter().map(|held| (held, why.clone()))),
                        false => parts.extend([part, rest]),
                    }
                }
            }
        }
        Ok(offered)
    }

    /// Inserts a part; why not, where it is refused.
    async fn insert(
        &mut self,
        part: &[Held],
        hold: &mut Hold,
        drain: &CancellationToken,
    ) -> Result<Result<Inserted, String>, LetGo> {
        let (mut reach, mut backoff) = (Reach::new("the usage store"), Backoff::default());
        let mut events = batch(part, Suspects::Again);
        hold.waits_since(part.iter().filter_map(Held::end).min());
        loop {
            hold.renew(&mut *self.bus).await?;
            let store = self.store.clone();
            let timer = metrics::insert_timer();
            let outcome = hold.during(&mut *self.bus, store.insert(&events)).await;
            drop(timer);
            match outcome {
                Ok(inserted) => {
                    reach.is_there();
                    self.progress.store_is_there();
                    return Ok(Ok(inserted));
                }
                Err(StoreFailure::Refused(why)) => return Ok(Err(why)),
                // It may be stored all the same.
                Err(StoreFailure::Away(why)) => {
                    reach.is_away(&why);
                    self.progress.store_is_away(&why);
                    events = batch(part, Suspects::All);
                    hold.pause(&mut *self.bus, &mut backoff, drain).await?;
                }
            }
        }
    }

    async fn stored(&mut self, part: Vec<Held>, inserted: Inserted, hold: &mut Hold) {
        metrics::stored(inserted, part.len());
        let sequences: Vec<u64> = part.iter().map(|held| held.sequence).collect();
        self.acknowledge(&sequences, hold).await;
        let now = self.clock.now();
        let newest = part.iter().filter_map(Held::end).max();
        if let Some(age) = newest.and_then(|newest| now.duration_since(newest).ok()) {
            metrics::lag(age);
        }
        if let Some(tail) = &self.tail {
            let fresh = part.into_iter().filter(|held| inserted.repeated == 0 || !held.again);
            tail.tell(fresh.map(|held| held.event));
        }
    }
}
