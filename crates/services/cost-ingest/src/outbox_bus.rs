//! A bus that is the local log itself: for a process that writes accounts and stores them, too.

use signalbox_kit::Clock;
use signalbox_ports::{BusAway, Delivery, Entry, Outbox, Position, UsageBus};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::Instant;

/// How long entries gather once the first is there: one by one they would cost more than they are worth.
const GATHER: Duration = Duration::from_millis(20);

/// [`UsageBus`] over an [`Outbox`]: a sequence is a position. There is one reader; what it has not acknowledged when it
/// asks for more comes again.
#[derive(Debug)]
pub struct OutboxBus {
    outbox: Arc<dyn Outbox>,
    clock: Arc<dyn Clock>,
    last: Option<Position>,
    /// What was given out, in order, and whether it is acknowledged: only a beginning can be confirmed.
    given: VecDeque<(u64, bool)>,
}

impl OutboxBus {
    /// A bus over a log. There must be one only.
    pub fn new(outbox: Arc<dyn Outbox>, clock: Arc<dyn Clock>) -> Self {
        Self { outbox, clock, last: None, given: VecDeque::new() }
    }

    fn read(&mut self, most: usize) -> Result<Vec<Entry>, BusAway> {
        let entries = self.outbox.read(self.last, most).map_err(away)?;
        if let Some(entry) = entries.last() {
            self.last = Some(entry.position);
        }
        self.given.extend(entries.iter().map(|entry| (entry.position.0, false)));
        Ok(entries)
    }
}

fn away(error: std::io::Error) -> BusAway {
    BusAway(format!("the usage spool: {error}"))
}

#[async_trait::async_trait]
impl UsageBus for OutboxBus {
    async fn receive(&mut self, most: usize, patience: Duration) -> Result<Vec<Delivery>, BusAway> {
        // Whoever asks for more has let go of what is not acknowledged. It comes again, and not at once: why it could not be
        // stored is not over so soon.
        if !self.given.is_empty() {
            self.given.clear();
            self.last = None;
            tokio::time::sleep(patience).await;
        }
        let deadline = Instant::now() + patience;
        let mut entries = self.read(most)?;
        while entries.len() < most && Instant::now() < deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            self.outbox.wait(left).await;
            tokio::time::sleep_until((Instant::now() + GATHER).min(deadline)).await;
            match self.read(most - entries.len()) {
                Ok(more) => entries.extend(more),
                Err(away) if entries.is_empty() => return Err(away),
                Err(_) => break,
            }
        }
        let taken_at = self.clock.now();
        let delivery = |entry: Entry| Delivery {
            sequence: entry.position.0,
            payload: entry.payload,
            again: entry.again,
            taken_at,
        };
        Ok(entries.into_iter().map(delivery).collect())
    }

    async fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        for sequence in sequences {
            if let Ok(at) = self.given.binary_search_by_key(sequence, |(position, _)| *position)
                && let Some((_, done)) = self.given.get_mut(at)
            {
                *done = true;
            }
        }
        let mut through = None;
        while let Some((position, true)) = self.given.front() {
            through = Some(Position(*position));
            self.given.pop_front();
        }
        through.map_or(Ok(()), |through| self.outbox.confirm(through).map_err(away))
    }

    async fn extend(&mut self, _: &[u64]) -> Result<(), BusAway> {
        Ok(())
    }

    async fn leave(&mut self, _: &[u64]) {}

    async fn backlog(&mut self) -> Option<u64> {
        None
    }
}
