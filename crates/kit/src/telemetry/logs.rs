//! Structured logs on standard error.

use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt};

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
    let filter = EnvFilter::try_new(filter).map_err(|error| format!("log filter `{filter}`: {error}"))?;
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start happens in tests only, where the first one is as good.
    let _already_started = match format {
        LogFormat::Text => builder.with_target(false).finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    Ok(())
}
