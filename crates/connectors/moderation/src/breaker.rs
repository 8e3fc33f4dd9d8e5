//! When an endpoint that does not judge is left alone.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Failures in a row after which an endpoint is left alone.
const FAILURES: u32 = 5;
/// How long. Then one call tries it, and others as soon as that has succeeded.
const PAUSE: Duration = Duration::from_secs(10);

/// What was seen of each endpoint lately, by address.
#[derive(Debug, Default)]
pub(crate) struct Breakers(Mutex<HashMap<String, Breaker>>);

#[derive(Debug, Default)]
struct Breaker {
    failures: u32,
    until: Option<Instant>,
}

impl Breakers {
    /// Whether an endpoint may be asked now.
    pub(crate) fn may_ask(&self, url: &str) -> bool {
        let mut breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(breaker) = breakers.get_mut(url) else { return true };
        let Some(until) = breaker.until else { return true };
        let now = Instant::now();
        if now < until {
            return false;
        }
        breaker.until = Some(now + PAUSE);
        true
    }

    /// An endpoint has judged, or has not.
    pub(crate) fn note(&self, url: &str, judged: bool) {
        let mut breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if judged {
            breakers.remove(url);
            return;
        }
        let breaker = breakers.entry(url.to_owned()).or_default();
        breaker.failures += 1;
        if breaker.failures >= FAILURES {
            breaker.until = Some(Instant::now() + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_that_fails_in_a_row_is_left_alone_and_then_tried_by_one() {
        let breakers = Breakers::default();
        for _ in 0..FAILURES {
            assert!(breakers.may_ask("a"));
            breakers.note("a", false);
        }
        assert!(!breakers.may_ask("a") && breakers.may_ask("b"));
        advance(PAUSE).await;
        assert!(breakers.may_ask("a") && !breakers.may_ask("a"));
        breakers.note("a", true);
        assert!(breakers.may_ask("a") && breakers.may_ask("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_count_only_in_a_row() {
        let breakers = Breakers::default();
        for judged in [false, false, false, false, true, false, false, false, false] {
            breakers.note("a", judged);
        }
        assert!(breakers.may_ask("a"));
    }
}
