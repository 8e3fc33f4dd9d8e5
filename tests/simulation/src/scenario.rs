//! What there is, and what happens to it.

use crate::dice::{dice, log_normal};
use std::time::Duration;

/// Capacity of a vendor that has just come back, and how long it takes to be whole again.
const WEAK: f64 = 0.1;
const RECOVERY: Duration = Duration::from_secs(10);
/// Tokens of every prompt; as the router estimates those of the prompt that is sent.
pub(crate) const PROMPT_TOKENS: u64 = 64;
/// Answers: half are shorter, and the spread of their logarithm.
const MEDIAN_TOKENS: f64 = 100.0;
const TOKEN_SPREAD: f64 = 0.5;
/// Spread of the logarithm of a vendor's time for equal work.
const PACE_SPREAD: f64 = 0.25;

/// Vendors, incidents and traffic.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Names it in reports.
    pub name: &'static str,
    /// What all chance comes from.
    pub seed: u64,
    /// Requests a second, at random moments.
    pub rate: f64,
    /// For how long they come.
    pub length: Duration,
    /// Who can serve them.
    pub vendors: Vec<Vendor>,
    /// What befalls the vendors.
    pub incidents: Vec<Incident>,
    /// Router processes that share the traffic; each knows its own calls and what the adapter reports.
    pub routers: usize,
    /// How often the adapter reports health to the routers.
    pub report_every: Duration,
    /// What the routers' configuration says under `routing`.
    pub routing: &'static str,
}

/// A vendor with one model.
#[derive(Debug, Clone, PartialEq)]
pub struct Vendor {
    /// Its name.
    pub name: &'static str,
    /// Median time before the first token.
    pub first_token: Duration,
    /// Median time for each token.
    pub per_token: Duration,
    /// Calls at once up to which it keeps its pace. Beyond it slows down in proportion; at twice as many it refuses.
    pub knee: f64,
    /// USD for a million prompt tokens.
    pub input: f64,
    /// USD for a million answer tokens.
    pub output: f64,
    /// Share of good answers, as evaluated.
    pub quality: f64,
}

/// Something that happens to a vendor.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// Index of the vendor.
    pub vendor: usize,
    /// What it is.
    pub kind: Kind,
    /// When it begins.
    pub from: Duration,
    /// When it ends.
    pub until: Duration,
}

/// Kinds of incidents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Every call fails at once. When it ends, capacity comes back over ten seconds.
    Outage,
    /// No call is answered. When it ends, capacity comes back over ten seconds.
    Silence,
    /// Every answer takes so many times as long.
    BrownOut(f64),
    /// So many calls a second are taken, the others get a 429 with the time to wait.
    RateLimit(f64),
    /// Tokens cost so many times as much.
    Price(f64),
}

impl Kind {
    /// A word for pictures and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Outage => "outage",
            Self::Silence => "silence",
            Self::BrownOut(_) => "brown-out",
            Self::RateLimit(_) => "429 storm",
            Self::Price(_) => "price change",
        }
    }
}

/// How a vendor is at some moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// Calls fail at once.
    pub down: bool,
    /// Calls are not answered.
    pub silent: bool,
    /// Times as slow as usual.
    pub slowness: f64,
    /// Share of its usual capacity.
    pub capacity: f64,
    /// Calls a second it takes, where it counts them.
    pub limit: Option<f64>,
    /// Times as dear as usual.
    pub price: f64,
}

impl Scenario {
    /// How a vendor is at a moment.
    pub fn condition(&self, vendor: usize, at: Duration) -> Condition {
        let mut condition =
            Condition { down: false, silent: false, slowness: 1.0, capacity: 1.0, limit: None, price: 1.0 };
        for incident in self.incidents.iter().filter(|incident| incident.vendor == vendor) {
            incident.affect(&mut condition, at);
        }
        condition
    }

    /// When prices change.
    pub(crate) fn price_changes(&self) -> Vec<Duration> {
        let of_prices = self.incidents.iter().filter(|incident| matches!(incident.kind, Kind::Price(_)));
        let mut moments: Vec<_> = of_prices.flat_map(|incident| [incident.from, incident.until]).collect();
        moments.sort();
        moments
    }

    /// Tokens of the answer to a request, whoever gives it.
    pub fn answer_tokens(&self, request: u64) -> u64 {
        let tokens = MEDIAN_TOKENS * log_normal(&mut dice(self.seed, &[1, request]), TOKEN_SPREAD);
        (tokens as u64).max(1)
    }

    /// How long a vendor needs for a request when it is well and idle.
    pub fn own_time(&self, vendor: usize, request: u64) -> Duration {
        let Some(Vendor { first_token, per_token, .. }) = self.vendors.get(vendor) else {
            return Duration::ZERO;
        };
        let luck = log_normal(&mut dice(self.seed, &[2, request, vendor as u64]), PACE_SPREAD);
        (*first_token + per_token.mul_f64(self.answer_tokens(request) as f64)).mul_f64(luck)
    }

    /// What an answer costs, in nano-EUR, at one euro a dollar.
    pub fn cost(&self, vendor: usize, request: u64, at: Duration) -> i64 {
        let Some(Vendor { input, output, .. }) = self.vendors.get(vendor) else { return 0 };
        let tokens = PROMPT_TOKENS as f64 * input + self.answer_tokens(request) as f64 * output;
        // USD for a million tokens are thousands of nano-dollars for each.
        (tokens * 1e3 * self.condition(vendor, at).price).round() as i64
    }
}

impl Incident {
    fn affect(&self, condition: &mut Condition, at: Duration) {
        let on = (self.from..self.until).contains(&at);
        let since_end = at.checked_sub(self.until);
        match self.kind {
            Kind::Outage => condition.down |= on,
            Kind::Silence => condition.silent |= on,
            Kind::BrownOut(times) if on => condition.slowness = times,
            Kind::RateLimit(limit) if on => condition.limit = Some(limit),
            Kind::Price(times) if on => condition.price = times,
            _ => {}
        }
        let was_away = matches!(self.kind, Kind::Outage | Kind::Silence);
        if let Some(since_end) = since_end.filter(|since_end| was_away && *since_end < RECOVERY) {
            condition.capacity = WEAK + (1.0 - WEAK) * since_end.as_secs_f64() / RECOVERY.as_secs_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_vendor_comes_back_weak_and_is_whole_after_ten_seconds() {
        let outage = Incident { vendor: 0, kind: Kind::Outage, from: secs(10), until: secs(20) };
        let scenario = Scenario { incidents: vec![outage], ..scenarios::calm(100.0, secs(60)) };
        let at = |seconds| scenario.condition(0, secs(seconds));
        assert!(!at(9).down && at(10).down && at(19).down && !at(20).down);
        assert_eq!([at(20), at(25), at(30)].map(|condition| condition.capacity), [0.1, 0.55, 1.0]);
        assert_eq!(scenario.condition(1, secs(15)), scenario.condition(1, secs(0)));
    }

    #[test]
    fn an_answer_costs_what_its_tokens_cost_at_the_time() {
        let rise = Incident { vendor: 0, kind: Kind::Price(3.0), from: secs(10), until: secs(20) };
        let scenario = Scenario { incidents: vec![rise], ..scenarios::calm(100.0, secs(60)) };
        let vendor = &scenario.vendors[0];
        let usd = (64.0 * vendor.input + scenario.answer_tokens(5) as f64 * vendor.output) / 1e6;
        assert_eq!(scenario.cost(0, 5, secs(0)), (usd * 1e9).round() as i64);
        assert_eq!(scenario.cost(0, 5, secs(15)), (usd * 3e9).round() as i64);
    }
}
