//! Calendar months, and when they are closed.

use crate::ingest::Backoff;
use jiff::{civil::Date, tz::TimeZone};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{UsageStore, Window};
use signalbox_types::Failure;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

/// How often it is looked whether a month can be closed.
const EVERY: Duration = Duration::from_secs(15 * 60);

/// Closes months some time after their end, again and again.
pub async fn close_months(store: Arc<dyn UsageStore>, after: Duration, clock: Arc<dyn Clock>) {
    let mut backoff = Backoff::default();
    loop {
        let before = clock.now().checked_sub(after).unwrap_or(SystemTime::UNIX_EPOCH);
        match store.close_months(before).await {
            Ok(()) => {
                backoff = Backoff::default();
                tokio::time::sleep(EVERY).await;
            }
            Err(error) => {
                tracing::warn!(%error, "ended months cannot be closed yet");
                backoff.pause().await;
            }
        }
    }
}

/// The window of a month in UTC, as in `2026-11`.
pub(crate) fn month(text: &str) -> Result<Window, Failure> {
    let wrong = || Failure::invalid("month", "must be a month as in 2026-11");
    let digits = text.len() == 7 && text.bytes().enumerate().all(|(at, byte)| (at == 4) == (byte == b'-'));
    let first: Date = digits.then(|| format!("{text}-01").parse().ok()).flatten().ok_or_else(wrong)?;
    window(first).ok_or_else(wrong)
}

/// The month that a time is in.
pub(crate) fn month_of(time: SystemTime) -> Option<Window> {
    let date = jiff::Timestamp::try_from(time).ok()?.to_zoned(TimeZone::UTC).date();
    window(date.first_of_month())
}

fn window(first: Date) -> Option<Window> {
    let next = first.checked_add(jiff::Span::new().months(1)).ok()?;
    Some(Window { start: instant(first)?, end: instant(next)? })
}

fn instant(date: Date) -> Option<SystemTime> {
    date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp().into())
}

/// The days of a month, first to last.
pub(crate) fn days(month: Window) -> impl Iterator<Item = Window> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    std::iter::successors(Some(month.start), |start| Some(*start + DAY))
        .take_while(move |start| *start < month.end)
        .map(|start| Window { start, end: start + DAY })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(time: SystemTime) -> u64 {
        time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    }

    #[test]
    fn a_month_begins_and_ends_in_utc() {
        let november = month("2026-11").unwrap();
        assert_eq!((seconds(november.start), seconds(november.end)), (1_793_491_200, 1_796_083_200));
        assert_eq!(days(november).count(), 30);
        assert_eq!(days(month("2028-02").unwrap()).count(), 29);
        assert_eq!(month_of(november.end - Duration::from_nanos(1)), Some(november));
        assert_eq!(month_of(november.end), Some(month("2026-12").unwrap()));
    }

    #[test]
    fn what_is_no_month_is_refused() {
        for wrong in ["", "2026", "2026-13", "2026-00", "2026-1", "26-11", "2026-11-01", "2026/11", "+226-11"]
        {
            assert!(month(wrong).unwrap_err().message.starts_with("month: "), "{wrong}");
        }
    }
}
