//! When a vendor says that another try may succeed: read from headers, whatever form it chose.

use http::HeaderMap;
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use std::time::{Duration, SystemTime};

/// `retry-after-ms`, else `retry-after` (seconds or an HTTP date), as every vendor's own SDK reads them.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let milliseconds = text(headers, "retry-after-ms").and_then(|text| seconds(text, 1e-3));
    milliseconds.or_else(|| text(headers, "retry-after").and_then(|text| wait(text, now)))
}

/// A wait in any form: seconds, unix seconds, `6m0.258s`, an HTTP date or an RFC 3339 instant.
pub(crate) fn wait(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    seconds(text, 1.0)
        .map(|wait| unless_unix_time(wait, now))
        .or_else(|| duration(text))
        .or_else(|| until(instant(text)?, now))
}

/// A duration such as `34.07s`, `120ms` or `1h6m0.258s` (Go's and protobuf's way to write one).
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let number = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
        let (amount, tail) = rest.split_at(number);
        let unit = tail.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        sum = sum.checked_add(seconds(amount, unit_seconds(unit)?)?)?;
        rest = tail;
    }
    (!text.trim().is_empty()).then_some(sum)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "d" => 86_400.0,
        "h" => 3_600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

/// A plain number of `unit` seconds; none that is negative, infinite or too large to be meant.
fn seconds(text: &str, unit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse::<f64>().ok()? * unit).ok()
}

/// Some servers send the reset as unix time: nobody asks for a wait of thirty years.
fn unless_unix_time(wait: Duration, now: SystemTime) -> Duration {
    const THIRTY_YEARS: Duration = Duration::from_secs(30 * 365 * 86_400);
    if wait < THIRTY_YEARS {
        return wait;
    }
    let instant = SystemTime::UNIX_EPOCH.checked_add(wait);
    instant.and_then(|instant| until(instant, now)).unwrap_or(wait)
}

fn instant(text: &str) -> Option<SystemTime> {
    let rfc3339 = text.parse::<Timestamp>();
    rfc3339.or_else(|_| DateTimeParser::new().parse_timestamp(text)).ok().map(SystemTime::from)
}

/// Nothing left to wait for an instant that has passed.
fn until(instant: SystemTime, now: SystemTime) -> Option<Duration> {
    Some(instant.duration_since(now).unwrap_or_default())
}

/// A header's text.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-29T12:00:00Z
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect::<HeaderMap>()
    }

    #[test]
    fn every_form_of_a_wait_is_understood() {
        let cases = [
            ("0", 0),
            ("7", 7_000),
            ("1.5", 1_500),
            ("120ms", 120),
            ("1s", 1_000),
            ("6m0.258s", 360_258),
            ("1h2m3s", 3_723_000),
            ("34.074824224s", 34_074),
            ("Sun, 29 Nov 2026 12:00:30 GMT", 30_000),
            ("Sun, 29 Nov 2026 11:00:00 GMT", 0),
            ("2026-11-29T12:01:00Z", 60_000),
            ("2026-11-29T13:00:02.5+01:00", 2_500),
            ("1795953605", 5_000),
        ];
        for (text, millis) in cases {
            assert_eq!(wait(text, now()).map(|wait| wait.as_millis()), Some(millis), "for {text:?}");
        }
    }

    #[test]
    fn what_is_no_wait_is_no_wait() {
        for text in [
            "",
            " ",
            "soon",
            "-1",
            "NaN",
            "inf",
            "1e300",
            "5 parsecs",
            "s",
            "1.2.3s",
            "99999999999999999999d",
        ] {
            assert_eq!(wait(text, now()), None, "for {text:?}");
        }
    }

    #[test]
    fn milliseconds_are_finer_than_seconds_and_go_first() {
        let both = headers(&[("retry-after", "1"), ("retry-after-ms", "120")]);
        assert_eq!(retry_after(&both, now()), Some(Duration::from_millis(120)));
        let broken = headers(&[("retry-after", "9"), ("retry-after-ms", "many")]);
        assert_eq!(retry_after(&broken, now()), Some(Duration::from_secs(9)));
        assert_eq!(retry_after(&HeaderMap::new(), now()), None);
    }
}
