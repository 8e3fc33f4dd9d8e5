//! When the money is gone, if it goes on like this.

use crate::period::Running;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(86_400);

/// A window of the recent past shorter than this says too little.
const SHORTEST_BASIS: Duration = Duration::from_secs(3_600);

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spend {
    /// Limit of the period.
    pub limit: i64,
    /// Spent and held in the period.
    pub used: i64,
    /// Spent in the last `window`, whatever the period.
    pub recent: i64,
    /// How far `recent` goes back.
    pub window: Duration,
}

/// What is to come at this rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// When the limit is reached; `None` if not within the period, or never.
    pub exhausted_at: Option<SystemTime>,
    /// Spending by the period's end if nothing stops it; 0 without an end.
    pub at_end: i64,
    /// Spending of a day.
    pub daily: i64,
    /// Length of the past that the rate is taken from; zero where there is none yet.
    pub basis: Duration,
}

/// Goes on at the rate of the recent past, or at the period's own where that is too short. `start` is when spending
/// could begin: the period's start, or when a prepaid budget was made.
pub fn forecast(spend: &Spend, start: SystemTime, running: &Running, now: SystemTime) -> Forecast {
    let rate = Rate::of(spend, now.duration_since(start).unwrap_or_default());
    let left = i128::from(spend.limit) - i128::from(spend.used);
    let until_end = running.end.map(|end| end.duration_since(now).unwrap_or_default());
    let exhausted_at = rate
        .time_for(left)
        .filter(|needed| until_end.is_none_or(|left| *needed <= left))
        .and_then(|needed| now.checked_add(needed));
    let at_end = until_end.map_or(0, |left| narrow(i128::from(spend.used) + rate.over(left)));
    Forecast { exhausted_at, at_end, daily: narrow(rate.over(DAY)), basis: rate.basis }
}

/// An amount over a time.
struct Rate {
    amount: i128,
    basis: Duration,
}

impl Rate {
    fn of(spend: &Spend, elapsed: Duration) -> Self {
        let (amount, basis) =
            if spend.window >= SHORTEST_BASIS { (spend.recent, spend.window) } else { (spend.used, elapsed) };
        Self { amount: i128::from(amount.max(0)), basis }
    }

    fn over(&self, time: Duration) -> i128 {
        match nanos(self.basis) {
            0 => 0,
            basis => self.amount.saturating_mul(nanos(time)) / basis,
        }
    }

    /// How long so much lasts; `None` for ever.
    fn time_for(&self, amount: i128) -> Option<Duration> {
        if amount <= 0 {
            return Some(Duration::ZERO);
        }
        let nanos = amount.saturating_mul(nanos(self.basis)).checked_div(self.amount)?;
        Some(Duration::from_nanos(u64::try_from(nanos).ok()?))
    }
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

fn narrow(amount: i128) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::period::{Period, Zone};
    use std::time::UNIX_EPOCH;

    const EUR: i64 = signalbox_types::NANOS_PER_EUR;

    fn day(day: u64) -> SystemTime {
        // 2026-11-01 00:00 UTC.
        UNIX_EPOCH + Duration::from_secs(1_793_491_200) + DAY * u32::try_from(day - 1).unwrap()
    }

    fn november(spend: Spend, now: SystemTime) -> Forecast {
        let running = Period::Monthly.at(now, &Zone::utc());
        forecast(&spend, running.start, &running, now)
    }

    #[test]
    fn ten_euros_a_day_exhaust_a_hundred_on_the_eleventh() {
        let spend = Spend { limit: 100 * EUR, used: 50 * EUR, recent: 70 * EUR, window: DAY * 7 };
        let found = november(spend, day(6));
        assert_eq!(found.exhausted_at, Some(day(11)));
        assert_eq!(found.daily, 10 * EUR);
        assert_eq!(found.at_end, (50 + 250) * EUR);
        assert_eq!(found.basis, DAY * 7);
    }

    #[test]
    fn a_young_budget_is_judged_by_its_own_period() {
        let spend = Spend { limit: 100 * EUR, used: 20 * EUR, recent: 0, window: Duration::ZERO };
        let found = november(spend, day(11));
        assert_eq!((found.daily, found.exhausted_at), (2 * EUR, None), "60 of 100 by the end");
        assert_eq!(found.at_end, 60 * EUR);
    }

    #[test]
    fn what_is_gone_is_gone_now_and_no_spending_lasts_for_ever() {
        let spend = Spend { limit: EUR, used: 2 * EUR, recent: 0, window: DAY };
        assert_eq!(november(spend, day(3)).exhausted_at, Some(day(3)));
        let idle = Spend { limit: EUR, used: 0, recent: 0, window: DAY };
        assert_eq!(november(idle, day(3)).exhausted_at, None);
    }

    #[test]
    fn a_prepaid_budget_lasts_as_long_as_it_lasts() {
        let spend = Spend { limit: 100 * EUR, used: 0, recent: EUR, window: DAY };
        let running = Period::Prepaid.at(day(1), &Zone::utc());
        let found = forecast(&spend, day(1), &running, day(1));
        assert_eq!(found.exhausted_at, Some(day(101)));
        assert_eq!(found.at_end, 0);
    }

    #[test]
    fn the_first_instant_of_a_period_is_no_division_by_zero() {
        let spend = Spend { limit: EUR, used: 1, recent: 0, window: Duration::ZERO };
        let found = november(spend, day(1));
        assert_eq!((found.daily, found.at_end), (0, 1));
    }
}
