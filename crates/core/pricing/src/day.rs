//! Calendar days in UTC.

use std::{
    fmt,
    str::FromStr,
    time::{SystemTime, UNIX_EPOCH},
};

const SECONDS_PER_DAY: u64 = 86_400;

/// A calendar day in UTC. Prices and shutdowns change at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

/// The text is not a date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date of the form 2026-11-29")]
pub struct InvalidDay(String);

impl Day {
    /// The day of a point in time; times before 1970 count as its first day.
    pub fn of(time: SystemTime) -> Self {
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
        Self(i32::try_from(seconds / SECONDS_PER_DAY).unwrap_or(i32::MAX))
    }

    /// Reads `2026-11-29`.
    pub fn parse(text: &str) -> Result<Self, InvalidDay> {
        Self::read(text).ok_or_else(|| InvalidDay(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shaped = bytes.len() == 10
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shaped {
            return None;
        }
        let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i32>().ok();
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let found = Self(days_from_civil(year, month, day));
        // A date that does not exist, such as 31 November, comes back as another one.
        (civil_from_days(found.0) == (year, month, day)).then_some(found)
    }
}

impl FromStr for Day {
    type Err = InvalidDay;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// Days since 1970-01-01 of a date of the Gregorian calendar; years start in March so that leap days come last.
fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era.saturating_mul(146_097).saturating_add(day_of_era - 719_468)
}

fn civil_from_days(days: i32) -> (i32, i32, i32) {
    let days = i64::from(days) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let narrow = |value: i64| i32::try_from(value).unwrap_or(i32::MAX);
    (narrow(year), narrow(month), narrow(day))
}
