//! Structured logs on standard error.

use crate::config::nearest::did_you_mean;
use std::io::{self, IsTerminal};
use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt};

/// The NATS client tells of each try to connect; what matters of it is told by our own connector, once.
const QUIET: &str = "async_nats=off";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// How logs look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// Starts logging. `filter` is a level or a tracing filter, as in `info,signalbox_router=debug`. Does nothing when
/// logging has been started already.
pub fn init(format: LogFormat, filter: &str) -> Result<(), String> {
    let mut builder = fmt().with_env_filter(self::filter(filter)?).with_writer(io::stderr);
    // On a terminal NO_COLOR decides.
    if !io::stderr().is_terminal() {
        builder = builder.with_ansi(false);
    }
    // A second start happens in tests only, where the first one is as good.
    let _already_started = match format {
        LogFormat::Text => builder.with_target(false).finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    Ok(())
}

/// The filter that a text means. A word that is no level would be taken for the only module to log anything.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, String> {
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        // What is in brackets selects spans, by rules of its own.
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
        if !part.contains(['[', ']']) && !LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level)) {
            let hint = did_you_mean(level, LEVELS);
            return Err(format!("`{level}` is not one of {}{hint}", LEVELS.join(", ")));
        }
    }
    let quiet = if text.contains("async_nats") { String::new() } else { format!("{QUIET},") };
    EnvFilter::try_new(quiet + text).map_err(|error| format!("`{text}` is not a log filter: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_level_is_refused_with_the_level_that_was_meant() {
        for good in ["info", "WARN", "info,signalbox_router=debug", "off,", "info,[request{id=1}]=trace"] {
            filter(good).unwrap();
        }
        let wrong = |text| filter(text).unwrap_err();
        assert!(wrong("inof").ends_with("(did you mean `info`?)"), "{}", wrong("inof"));
        assert!(wrong("info,signalbox_router=debgu").contains("did you mean `debug`"));
        assert!(wrong("info,signalbox_router").starts_with("`signalbox_router` is not one of off, error,"));
        assert_eq!(wrong(" "), "is empty");
    }
}
