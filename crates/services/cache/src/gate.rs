//! When a store that does not answer is left alone, so that nobody waits for it in vain.

use signalbox_kit::lag;
use signalbox_ports::cache::CacheAway;
use signalbox_resilience::{Breaker, BreakerRules, BreakerState, Outcome, Permit};
use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A gate in front of something that may be away or slow.
pub(crate) struct Gate(Mutex<Breaker>);

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.state()).finish()
    }
}

/// Why nothing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missed {
    /// The time was over.
    Timeout,
    /// It is away, or is being left alone since it was.
    Away,
}

impl Gate {
    /// Opens after five failures in a row, or half of twenty in ten seconds, for two seconds at first.
    pub(crate) fn new() -> Self {
        let rules = BreakerRules {
            window: Duration::from_secs(10),
            open_for: Duration::from_secs(2),
            // To try it costs one caller a few milliseconds, so it is tried often.
            open_at_most: Duration::from_secs(5),
            forget_after: Duration::from_secs(60),
            probe_patience: Duration::from_secs(10),
            ramp_start: 0.1,
            ..BreakerRules::default()
        };
        Self(Mutex::new(Breaker::new(rules, now())))
    }

    /// Asks, if that may be done now, and waits no longer than `until`.
    pub(crate) async fn ask<T>(
        &self,
        until: Instant,
        asking: impl Future<Output = Result<T, CacheAway>>,
    ) -> Result<T, Missed> {
        let permit = self.lock().admit(now(), rand::random()).ok_or(Missed::Away)?;
        let mut passage = Passage { gate: self, permit: Some(permit) };
        match lag::until(until, asking).await {
            Ok(Ok(answer)) => {
                passage.ended(Outcome::Success);
                Ok(answer)
            }
            Ok(Err(away)) => {
                passage.ended(Outcome::Transport);
                tracing::debug!(%away, "a question to the cache failed");
                Err(Missed::Away)
            }
            Err(_) => {
                passage.ended(Outcome::Timeout);
                Err(Missed::Timeout)
            }
        }
    }

    /// What questions meet now.
    fn state(&self) -> BreakerState {
        self.lock().state(now())
    }

    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question on its way. One that is given up says nothing of the store.
struct Passage<'a> {
    gate: &'a Gate,
    permit: Option<Permit>,
}

impl Passage<'_> {
    fn ended(&mut self, outcome: Outcome) {
        if let Some(permit) = self.permit.take() {
            self.gate.lock().record(permit, outcome, now(), rand::random());
        }
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        self.ended(Outcome::Neutral);
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future;
    use tokio::time::{advance, sleep};

    async fn ask(gate: &Gate, after: Duration) -> Result<(), Missed> {
        gate.ask(Instant::now() + Duration::from_millis(5), async {
            sleep(after).await;
            Ok(())
        })
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_slow_five_times_costs_nobody_time_until_it_is_well_again() {
        let gate = Gate::new();
        for _ in 0..5 {
            assert_eq!(ask(&gate, Duration::from_secs(1)).await, Err(Missed::Timeout));
        }
        let before = Instant::now();
        assert_eq!(ask(&gate, Duration::from_secs(1)).await, Err(Missed::Away));
        assert_eq!(before.elapsed(), Duration::ZERO);
        advance(Duration::from_secs(3)).await;
        assert_eq!(ask(&gate, Duration::ZERO).await, Ok(()), "one tries it");
        for _ in 0..10 {
            advance(Duration::from_secs(1)).await;
            let _ = ask(&gate, Duration::ZERO).await;
        }
        assert_eq!(ask(&gate, Duration::ZERO).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_says_nothing_of_the_store() {
        let gate = Gate::new();
        for _ in 0..20 {
            let asking =
                gate.ask(Instant::now() + Duration::from_secs(9), future::pending::<Result<(), _>>());
            assert!(tokio::time::timeout(Duration::from_millis(1), asking).await.is_err());
        }
        assert_eq!(ask(&gate, Duration::ZERO).await, Ok(()));
    }
}
