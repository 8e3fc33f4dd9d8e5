//! Keeps those waiting who guess keys.

use std::{collections::HashMap, net::IpAddr, time::Duration};
use tokio::time::Instant;

/// What the first wrong key of a source costs it; each further one costs twice as much.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The most that a wrong key costs.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// So long after its last wrong key a source starts anew.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
/// Most sources that are remembered.
const MOST_SOURCES: usize = 16_384;

/// Where a call comes from: an IPv4 address, or the network that one IPv6 host can take any address of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Source(IpAddr);

impl Source {
    pub(super) fn of(peer: IpAddr) -> Self {
        match peer {
            IpAddr::V6(address) => Self(IpAddr::V6((address.to_bits() >> 64 << 64).into())),
            v4 @ IpAddr::V4(_) => Self(v4),
        }
    }
}

/// What is remembered of sources that presented wrong keys.
#[derive(Debug, Default)]
pub(super) struct Slowdown {
    sources: HashMap<Source, Guesser>,
}

#[derive(Debug)]
struct Guesser {
    failures: u32,
    /// When its next key may be looked at.
    turn: Instant,
    last_failure: Instant,
}

/// When a key may be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// At once.
    Now,
    /// Then.
    At(Instant),
    /// Not at all: so much is waiting already.
    TooMany(Duration),
}

impl Slowdown {
    /// Takes the next turn of a source. Keys that wait at the same time have turns one after the other.
    pub(super) fn turn(&mut self, source: Source, now: Instant) -> Turn {
        let Some(guesser) = self.sources.get_mut(&source) else { return Turn::Now };
        if guesser.is_forgotten(now) {
            self.sources.remove(&source);
            return Turn::Now;
        }
        let wait = guesser.turn.saturating_duration_since(now);
        if wait > LONGEST_WAIT {
            return Turn::TooMany(wait);
        }
        let turn = guesser.turn.max(now);
        guesser.turn = turn + guesser.cost();
        if wait.is_zero() { Turn::Now } else { Turn::At(turn) }
    }

    /// A source presented a wrong key.
    pub(super) fn failed(&mut self, source: Source, now: Instant) {
        if self.sources.len() >= MOST_SOURCES && !self.sources.contains_key(&source) {
            self.make_room(now);
        }
        let guesser =
            self.sources.entry(source).or_insert(Guesser { failures: 0, turn: now, last_failure: now });
        guesser.failures = guesser.failures.saturating_add(1);
        guesser.last_failure = now;
        guesser.turn = guesser.turn.max(now + guesser.cost());
    }

    /// Forgets who has been quiet; if there is none, whoever guessed least.
    fn make_room(&mut self, now: Instant) {
        self.sources.retain(|_, guesser| !guesser.is_forgotten(now));
        if self.sources.len() >= MOST_SOURCES {
            let fewest = self.sources.values().map(|guesser| guesser.failures).min();
            self.sources.retain(|_, guesser| Some(guesser.failures) != fewest);
        }
    }
}

impl Guesser {
    fn cost(&self) -> Duration {
        let doublings = self.failures.saturating_sub(1).min(6);
        (FIRST_WAIT * 2_u32.pow(doublings)).min(LONGEST_WAIT)
    }

    fn is_forgotten(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last_failure) > FORGOTTEN_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn source(last: u8) -> Source {
        Source::of(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
    }

    #[tokio::test(start_paused = true)]
    async fn each_wrong_key_costs_twice_the_one_before_up_to_five_seconds() {
        let (mut slowdown, mut now) = (Slowdown::default(), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..9 {
            slowdown.failed(source(1), now);
            let Turn::At(turn) = slowdown.turn(source(1), now) else { panic!("it must wait") };
            waits.push((turn - now).as_millis());
            now = turn;
        }
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
        assert_eq!(slowdown.turn(source(2), now), Turn::Now, "others do not wait");
    }

    #[tokio::test(start_paused = true)]
    async fn keys_presented_at_once_wait_for_each_other_and_soon_are_too_many() {
        let (mut slowdown, now) = (Slowdown::default(), Instant::now());
        for _ in 0..5 {
            slowdown.failed(source(1), now);
        }
        let turns: Vec<Turn> = (0..1_000).map(|_| slowdown.turn(source(1), now)).collect();
        let looked_at = turns.iter().filter(|turn| !matches!(turn, Turn::TooMany(_))).count();
        assert!(looked_at <= 4, "{looked_at} of a thousand are looked at");
    }

    #[tokio::test(start_paused = true)]
    async fn a_minute_of_quiet_is_enough() {
        let (mut slowdown, now) = (Slowdown::default(), Instant::now());
        slowdown.failed(source(1), now);
        assert_eq!(slowdown.turn(source(1), now + Duration::from_secs(61)), Turn::Now);
        assert!(slowdown.sources.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_cannot_evade_by_its_many_addresses_and_the_table_stays_small() {
        let (mut slowdown, now) = (Slowdown::default(), Instant::now());
        let address = |network: u64, host: u64| {
            Source::of(IpAddr::V6(Ipv6Addr::from(u128::from(network) << 64 | u128::from(host))))
        };
        assert_eq!(address(7, 1), address(7, u64::MAX));
        slowdown.failed(address(1, 1), now);
        slowdown.failed(address(1, 2), now);
        for network in 2..40_000 {
            slowdown.failed(address(network, 1), now);
        }
        assert!(slowdown.sources.len() <= MOST_SOURCES);
        assert!(slowdown.sources.contains_key(&address(1, 3)), "who guesses most is remembered");
    }
}
