//! Time zones, from the table that is built in.

use jiff::{
    Timestamp,
    civil::{Date, Time},
    tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase},
};
use signalbox_types::shown;
use std::{fmt, sync::LazyLock};

/// The machine's own table may be missing or older than that of another replica.
static TABLE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Most names that an error suggests.
const SUGGESTIONS: usize = 3;

/// A time zone of the IANA's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// There is no time zone of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone `{}`; {}", shown(.name), .advice)]
pub struct UnknownZone {
    name: String,
    advice: String,
}

impl Zone {
    /// The time zone of days that are the same for everybody.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Reads a name, as in `Europe/Rome`; empty for UTC.
    ///
    /// # Errors
    /// See [`UnknownZone`].
    pub fn parse(name: &str) -> Result<Self, UnknownZone> {
        if name.is_empty() {
            return Ok(Self::utc());
        }
        TABLE
            .get(name)
            .ok()
            .filter(|zone| zone.iana_name().is_some())
            .map(Self)
            .ok_or_else(|| UnknownZone { name: name.to_owned(), advice: advice(name) })
    }

    /// Its name, spelled as in the table.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The day that the calendar on the wall shows.
    pub(super) fn date(&self, instant: Timestamp) -> Date {
        self.0.to_datetime(instant).date()
    }

    /// When a day begins: at the first of two midnights, or at the first instant after one that is skipped.
    pub(super) fn midnight(&self, day: Date) -> Timestamp {
        let civil = day.to_datetime(Time::midnight());
        let found = self.0.to_ambiguous_timestamp(civil);
        match found.offset() {
            AmbiguousOffset::Gap { after, .. } => {
                // With the later offset, midnight is still before the clocks are put forward.
                let before = after.to_timestamp(civil).unwrap_or(Timestamp::MIN);
                self.0.following(before).next().map_or(before, |transition| transition.timestamp())
            }
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
                found.earlier().unwrap_or(Timestamp::MAX)
            }
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn advice(name: &str) -> String {
    // What stands after the last slash is what people remember: the city.
    let wanted = name.rsplit('/').next().unwrap_or(name).replace(' ', "_").to_ascii_lowercase();
    let alike = |zone: &str| {
        let city = zone.rsplit('/').next().unwrap_or(zone).to_ascii_lowercase();
        !wanted.is_empty() && (city.starts_with(&wanted) || (city.len() > 3 && wanted.starts_with(&city)))
    };
    let found: Vec<String> = TABLE
        .available()
        .map(|zone| format!("`{zone}`"))
        .filter(|zone| alike(zone.trim_matches('`')))
        .take(SUGGESTIONS)
        .collect();
    if found.is_empty() {
        return "name one of the IANA's table, as in `Europe/Rome`, or leave it empty for UTC".to_owned();
    }
    format!("did you mean {}?", found.join(" or "))
}
