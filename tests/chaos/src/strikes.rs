//! Who is killed when.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use std::fmt;

/// Someone who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Victim {
    /// A publisher.
    Publisher(usize),
    /// An ingester.
    Ingester(usize),
    /// The NATS server; in a cluster the one that leads the stream.
    Nats,
    /// The engine of the store.
    Store,
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publisher(number) => write!(f, "publisher {number}"),
            Self::Ingester(number) => write!(f, "ingester {number}"),
            Self::Nats => f.write_str("nats"),
            Self::Store => f.write_str("store"),
        }
    }
}

/// One kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strike<V> {
    /// Once so much is done.
    pub(crate) at: u64,
    /// Who.
    pub(crate) victim: V,
    /// Started again once so much more is done; at once for 0.
    pub(crate) pause: u64,
}

/// Strikes at random moments of a run, each victim about as often as any other.
pub(crate) fn plan<V: Copy>(victims: &[V], kills: usize, events: u64, seed: u64) -> Vec<Strike<V>> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut turn = Vec::new();
    let each = events * 19 / 20 / kills.max(1) as u64;
    let strike = |number: u64| {
        if turn.is_empty() {
            turn = victims.to_vec();
            turn.shuffle(&mut random);
        }
        let at = each * number + random.random_range(0..=each);
        let victim = turn.pop()?;
        let pause = if random.random() { 0 } else { random.random_range(0..=events / 25) };
        Some(Strike { at, victim, pause })
    };
    (0..kills as u64).filter_map(strike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_is_struck_about_as_often_and_before_the_end() {
        let victims = [Victim::Publisher(0), Victim::Ingester(0), Victim::Nats];
        let strikes = plan(&victims, 20, 1000, 7);
        assert_eq!(strikes, plan(&victims, 20, 1000, 7));
        assert!(strikes.is_sorted_by_key(|strike| strike.at));
        assert!(strikes.iter().all(|strike| strike.at < 960));
        for victim in victims {
            let times = strikes.iter().filter(|strike| strike.victim == victim).count();
            assert!((6..=7).contains(&times), "{victim}: {times}");
        }
    }
}
