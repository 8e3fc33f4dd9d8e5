//! Who is asked and serves nothing, while others serve.

use std::time::{Duration, Instant};

/// How long a vendor may be asked without serving: the promise of the design ("no throughput for five minutes").
const PATIENCE: Duration = Duration::from_secs(300);
/// The weight of a vendor on strike. Ours: small enough to move the traffic, large enough to notice its return.
const ON_STRIKE: f64 = 0.25;

/// Notices a vendor that serves nothing though it breaks no other rule: each call is cancelled, refused or rate limited,
/// so that its failure rate looks well.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strike {
    /// The first call since which nothing was served.
    unserved_since: Option<Instant>,
    asked_at: Option<Instant>,
    served_at: Option<Instant>,
}

impl Strike {
    /// A call began (a heartbeat counts).
    pub fn asked(&mut self, now: Instant) {
        // A long rest says nothing: whoever was not asked could not serve.
        let rested = self.asked_at.is_none_or(|at| older(at, now));
        if rested || self.unserved_since.is_none() {
            self.unserved_since = Some(now);
        }
        self.asked_at = Some(now);
    }

    /// A call was served.
    pub fn served(&mut self, now: Instant) {
        self.unserved_since = None;
        self.served_at = Some(now);
    }

    /// When a call was last served; the others need to know.
    pub fn served_at(&self) -> Option<Instant> {
        self.served_at
    }

    /// For how long it has been asked without serving; `None` while it serves, or nobody asks.
    pub fn unserved_for(&self, now: Instant) -> Option<Duration> {
        let asked = self.asked_at.is_some_and(|at| !older(at, now));
        self.unserved_since.filter(|_| asked).map(|since| now.saturating_duration_since(since))
    }

    /// The weight in the draw of one that has been asked for so long without serving, while another one served so long
    /// ago: 1, or less on strike. When nobody serves, the fault is likely ours, and lowering all changes nothing.
    pub fn weight(unserved_for: Option<Duration>, others_served_ago: Option<Duration>) -> f64 {
        let on_strike = unserved_for.is_some_and(|unserved| unserved >= PATIENCE)
            && others_served_ago.is_some_and(|ago| ago < PATIENCE);
        if on_strike { ON_STRIKE } else { 1.0 }
    }
}

fn older(at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(at) >= PATIENCE
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn asked_each_minute(from: Instant, minutes: u32) -> (Strike, Instant) {
        let mut strike = Strike::default();
        for minute in 0..=minutes {
            strike.asked(from + MINUTE * minute);
        }
        (strike, from + MINUTE * minutes)
    }

    fn weight(strike: Strike, others_served_ago: Option<Duration>, now: Instant) -> f64 {
        Strike::weight(strike.unserved_for(now), others_served_ago)
    }

    const JUST_NOW: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn five_minutes_of_serving_nothing_while_others_serve_lower_the_weight() {
        let start = Instant::now();
        let (strike, now) = asked_each_minute(start, 4);
        assert_eq!(weight(strike, JUST_NOW, now), 1.0);
        let (strike, now) = asked_each_minute(start, 5);
        assert_eq!(weight(strike, JUST_NOW, now), ON_STRIKE);
    }

    #[test]
    fn one_served_call_ends_the_strike() {
        let (mut strike, now) = asked_each_minute(Instant::now(), 10);
        strike.served(now);
        assert_eq!(strike.unserved_for(now), None);
        assert_eq!(strike.served_at(), Some(now));
        // And the next strike needs its own five minutes.
        strike.asked(now + MINUTE);
        assert_eq!(weight(strike, JUST_NOW, now + MINUTE), 1.0);
    }

    #[test]
    fn when_nobody_serves_nobody_is_on_strike() {
        let (strike, now) = asked_each_minute(Instant::now(), 10);
        assert_eq!(weight(strike, None, now), 1.0);
        assert_eq!(weight(strike, Some(PATIENCE), now), 1.0);
    }

    #[test]
    fn whoever_is_not_asked_is_not_on_strike() {
        let start = Instant::now();
        assert_eq!(Strike::default().unserved_for(start), None);
        let (mut strike, now) = asked_each_minute(start, 10);
        let later = now + MINUTE * 60;
        assert_eq!(strike.unserved_for(later), None);
        strike.asked(later);
        assert_eq!(weight(strike, JUST_NOW, later), 1.0);
    }
}
