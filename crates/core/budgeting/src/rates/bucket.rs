//! A token bucket that lets the important go first and starves nobody.

mod class;

use class::{Class, GUARANTEED};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Nanoseconds in the minute that limits are of.
const MINUTE: u128 = 60_000_000_000;

/// How long after its last wish a priority is taken to want more.
const ACTIVE: Duration = Duration::from_secs(10);

/// Most priorities that are kept apart; of more, the lowest are one.
const MOST_CLASSES: usize = 16;

/// A limit a minute of requests or of tokens, as a bucket of one minute's worth that fills evenly.
///
/// Amounts are kept in parts of a token that flow in a nanosecond at one token a minute, so that a trickle is counted as
/// exactly as a flood and nothing drifts.
///
/// While a higher priority is active, that is, wished for something in the last ten seconds, a lower one
/// - sees only the upper half of the bucket (with two higher ones active, the upper quarter, and so on), so that the
///   high ones find something however hard the low ones press;
/// - and has a tenth of what flows in to itself (shared among the lower ones), saved up for it until it takes it, so
///   that it is served however hard the high ones press.
///
/// All that is in the bucket and saved up is together never more than a minute's worth.
#[derive(Debug, Clone)]
pub struct Bucket {
    per_minute: u64,
    /// What all may take.
    common: u128,
    classes: BTreeMap<i32, Class>,
    at: Instant,
}

/// There is too little for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It may be there after this time, if nobody else takes it.
    For(Duration),
    /// It is more than a minute's worth.
    Forever,
}

impl Bucket {
    /// A full one.
    pub fn new(per_minute: u64, now: Instant) -> Self {
        Self { per_minute, common: parts(per_minute), classes: BTreeMap::new(), at: now }
    }

    /// The limit.
    pub fn per_minute(&self) -> u64 {
        self.per_minute
    }

    /// Another limit. What is there stays, as far as it fits.
    pub fn set_limit(&mut self, per_minute: u64, now: Instant) {
        self.flow(now);
        self.per_minute = per_minute;
        self.spill();
    }

    /// How many tokens somebody of this priority could take now. Asking is a wish: from now on lower ones make room.
    pub fn wish(&mut self, priority: i32, now: Instant) -> u64 {
        self.flow(now);
        let priority = self.place(priority);
        self.classes.entry(priority).or_insert_with(|| Class::new(now)).wished_at = now;
        tokens(self.within_reach(priority, now))
    }

    /// Takes so many tokens. To take from several buckets or none, [`Bucket::wish`] of each first.
    ///
    /// # Errors
    /// [`Refused`]; nothing was taken.
    pub fn take(&mut self, amount: u64, priority: i32, now: Instant) -> Result<(), Refused> {
        if self.wish(priority, now) < amount {
            return Err(self.wait(amount, priority, now));
        }
        let priority = self.place(priority);
        let mut rest = parts(amount);
        if let Some(class) = self.classes.get_mut(&priority) {
            rest -= class.take(rest);
        }
        self.common = self.common.saturating_sub(rest);
        Ok(())
    }

    /// Tokens that were not used come back.
    pub fn give_back(&mut self, amount: u64, now: Instant) {
        self.flow(now);
        self.common = self.common.saturating_add(parts(amount));
        self.spill();
    }

    /// How many tokens there are, whoever may take them.
    pub fn left(&mut self, now: Instant) -> u64 {
        self.flow(now);
        tokens(self.common.saturating_add(self.saved()))
    }

    fn wait(&self, amount: u64, priority: i32, now: Instant) -> Refused {
        if amount > self.per_minute {
            return Refused::Forever;
        }
        let (priority, amount) = (self.place(priority), parts(amount));
        let lacking = amount.saturating_sub(self.within_reach(priority, now));
        let lower = self.lower_ones(now).count() as u128;
        let flow = u128::from(self.per_minute);
        let nanos = match self.higher_ones(priority, now) {
            0 => lacking.div_ceil(flow),
            // What is saved up for it comes slowly, but comes in any case.
            _ => (lacking * GUARANTEED * lower.max(1)).div_ceil(flow),
        };
        Refused::For(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    fn within_reach(&self, priority: i32, now: Instant) -> u128 {
        let own = self.classes.get(&priority).map_or(0, |class| class.saved);
        let higher = self.higher_ones(priority, now).min(32);
        let kept = parts(self.per_minute) - (parts(self.per_minute) >> higher);
        own + self.common.saturating_sub(kept)
    }

    /// How many higher priorities are active.
    fn higher_ones(&self, priority: i32, now: Instant) -> u32 {
        let higher =
            self.classes.range(priority.saturating_add(1)..).filter(|(_, class)| class.is_active(now));
        if priority == i32::MAX { 0 } else { u32::try_from(higher.count()).unwrap_or(u32::MAX) }
    }

    /// Active priorities that a higher active one stands above.
    fn lower_ones(&self, now: Instant) -> impl Iterator<Item = i32> {
        let active = self.classes.iter().rev().filter(move |(_, class)| class.is_active(now));
        active.skip(1).map(|(priority, _)| *priority)
    }

    /// Lets flow in what is due since the last look.
    fn flow(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.at).as_nanos().min(MINUTE);
        self.at = self.at.max(now);
        self.retire(now);
        let inflow = u128::from(self.per_minute) * elapsed;
        let lower: Vec<i32> = self.lower_ones(now).collect();
        let each = inflow / GUARANTEED / (lower.len().max(1) as u128);
        let mut common = inflow;
        for priority in lower {
            if let Some(class) = self.classes.get_mut(&priority) {
                class.saved += each;
                common -= each;
            }
        }
        self.common += common;
        self.spill();
    }

    /// What was saved for those who want nothing more is everybody's again.
    fn retire(&mut self, now: Instant) {
        let highest = self.classes.iter().rev().find(|(_, class)| class.is_active(now)).map(|(one, _)| *one);
        for (priority, class) in &mut self.classes {
            if !class.is_active(now) || Some(*priority) == highest {
                self.common += std::mem::take(&mut class.saved);
            }
        }
        self.classes.retain(|_, class| class.is_active(now));
    }

    /// Nothing is kept beyond a minute's worth: first of what is common, then of what is saved.
    fn spill(&mut self) {
        let most = parts(self.per_minute);
        for class in self.classes.values_mut() {
            class.saved = class.saved.min(most);
        }
        let mut over = self.common.saturating_add(self.saved()).saturating_sub(most);
        let common = over.min(self.common);
        self.common -= common;
        over -= common;
        for class in self.classes.values_mut() {
            over -= class.take(over);
        }
    }

    fn saved(&self) -> u128 {
        self.classes.values().map(|class| class.saved).sum()
    }

    /// The class of a priority: its own, or the lowest known where there are many.
    fn place(&self, priority: i32) -> i32 {
        match self.classes.keys().next() {
            Some(lowest) if self.classes.len() >= MOST_CLASSES && !self.classes.contains_key(&priority) => {
                *lowest
            }
            _ => priority,
        }
    }
}

fn parts(tokens: u64) -> u128 {
    u128::from(tokens) * MINUTE
}

fn tokens(parts: u128) -> u64 {
    u64::try_from(parts / MINUTE).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
