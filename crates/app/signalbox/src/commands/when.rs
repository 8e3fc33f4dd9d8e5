//! Windows of time as people type them. All in UTC.

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};
use prost_types::Timestamp as Wire;

/// When; the last 30 days where nothing is said.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct WhenArgs {
    /// A calendar month in UTC, as in `2026-11`; budgets have months of their tenant's time zone
    #[arg(long, value_parser = month, conflicts_with_all = ["last", "from", "to"])]
    month: Option<(Timestamp, Timestamp)>,
    /// The time until now, as in `24h` or `7d`
    #[arg(long, value_parser = span, conflicts_with_all = ["from", "to"])]
    last: Option<Span>,
    /// The first day (in UTC) or moment, as in `2026-11-01` or `2026-11-01T00:00:00+01:00`
    #[arg(long, value_parser = moment)]
    from: Option<Timestamp>,
    /// The day (in UTC) or moment before which to stop; now where left out
    #[arg(long, value_parser = moment)]
    to: Option<Timestamp>,
}

impl WhenArgs {
    /// Start and end of the window; no end means now.
    pub(crate) fn window(&self, now: Timestamp) -> (Wire, Option<Wire>) {
        if let Some((start, end)) = self.month {
            return (wire(start), Some(wire(end)));
        }
        let last = self.last.unwrap_or_else(|| Span::new().hours(30 * 24));
        let start = self.from.or_else(|| now.checked_sub(last).ok()).unwrap_or(Timestamp::UNIX_EPOCH);
        (wire(start), self.to.map(wire))
    }
}

pub(crate) fn wire(moment: Timestamp) -> Wire {
    Wire { seconds: moment.as_second(), nanos: moment.subsec_nanosecond() }
}

fn month(text: &str) -> Result<(Timestamp, Timestamp), String> {
    let problem = || format!("`{text}` is no month as in 2026-11");
    let first: Date = format!("{text}-01").parse().map_err(|_| problem())?;
    let next = first.checked_add(Span::new().months(1)).map_err(|_| problem())?;
    Ok((midnight(first)?, midnight(next)?))
}

pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(day) = text.parse::<Date>()
        && !text.contains('T')
    {
        return midnight(day);
    }
    text.parse()
        .map_err(|_| format!("`{text}` is no day as in 2026-11-01 and no moment as in 2026-11-01T08:00:00Z"))
}

fn midnight(day: Date) -> Result<Timestamp, String> {
    day.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp()).map_err(|error| error.to_string())
}

/// A time, as in `90s` or `1h30m`.
pub(crate) fn span(text: &str) -> Result<Span, String> {
    let problem = || format!("`{text}` is no time as in 90s, 30m, 24h, 1h30m or 7d");
    let (mut rest, mut all) = (text, 0_i64);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let (unit, seconds) = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)]
            .into_iter()
            .find(|(unit, _)| after.starts_with(*unit))
            .ok_or_else(problem)?;
        let part = number.parse().ok().and_then(|number: i64| number.checked_mul(seconds));
        all = part.and_then(|part| all.checked_add(part)).ok_or_else(problem)?;
        rest = after.strip_prefix(unit).unwrap_or_default();
    }
    if text.is_empty() {
        return Err(problem());
    }
    let known = (1..=3_650 * 86_400).contains(&all);
    known.then(|| Span::new().seconds(all)).ok_or_else(|| format!("`{text}` must be from 1s to 3650d"))
}

/// A moment as people read it, in UTC.
pub(crate) fn shown(at: Option<&Wire>) -> String {
    let moment = at.and_then(|at| Timestamp::new(at.seconds, at.nanos).ok());
    moment.map_or_else(|| "-".to_owned(), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn windows_are_read_as_people_type_them() {
        let now = at("2026-11-30T12:00:00Z");
        let window = |args: WhenArgs| {
            let (start, end) = args.window(now);
            (shown(Some(&start)), end.map(|end| shown(Some(&end))))
        };
        let of_month = WhenArgs { month: Some(month("2026-12").unwrap()), ..WhenArgs::default() };
        assert_eq!(window(of_month), ("2026-12-01 00:00:00".into(), Some("2027-01-01 00:00:00".into())));
        let last = WhenArgs { last: Some(span("36h").unwrap()), ..WhenArgs::default() };
        assert_eq!(window(last), ("2026-11-29 00:00:00".into(), None));
        let last = WhenArgs { last: Some(span("1h30m5s").unwrap()), ..WhenArgs::default() };
        assert_eq!(window(last), ("2026-11-30 10:29:55".into(), None));
        let from = WhenArgs { from: Some(moment("2026-11-02").unwrap()), ..WhenArgs::default() };
        assert_eq!(window(from), ("2026-11-02 00:00:00".into(), None));
        assert_eq!(window(WhenArgs::default()).0, "2026-10-31 12:00:00");
    }

    #[test]
    fn what_is_no_time_is_said_so() {
        for text in ["", "7", "d", "0h", "-1d", "9999999999d", "5w", "ä", "1h30", "250ms", "1 h"] {
            assert!(span(text).is_err(), "{text}");
        }
        for text in ["2026-13", "2026", "2026-11-01"] {
            assert!(month(text).is_err(), "{text}");
        }
        assert!(moment("yesterday").is_err());
    }
}
