//! What operators type: each command in a file of its own, with the work in functions that return texts.

mod ask;
pub(crate) mod batch;
pub(crate) mod budget;
pub(crate) mod cache;
pub(crate) mod chat;
pub(crate) mod check_config;
pub(crate) mod connect;
pub(crate) mod decode;
pub(crate) mod drill;
pub(crate) mod encode;
mod euros;
pub(crate) mod explain;
mod failures;
pub(crate) mod health;
mod json_layout;
pub(crate) mod key;
pub(crate) mod metrics;
pub(crate) mod migrate;
pub(crate) mod models;
mod pages;
mod rates;
pub(crate) mod reconcile;
mod show;
pub(crate) mod tenant;
mod tiers;
pub(crate) mod usage;
mod when;

use signalbox_kit::{Clock, SystemClock, config::Environment};
use signalbox_pricing::Day;
use std::{
    fmt,
    fs::File,
    io::{self, Read, Write},
};

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandError {
    message: String,
    details: Vec<String>,
}

impl CommandError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: Vec::new() }
    }

    fn with_details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }
}

/// One line that says it all, then a line for each detail.
impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.details.iter().try_for_each(|detail| write!(f, "\n  {detail}"))
    }
}

impl std::error::Error for CommandError {}

impl From<signalbox_api::json::JsonError> for CommandError {
    fn from(error: signalbox_api::json::JsonError) -> Self {
        Self::new(format!("cannot be shown as JSON: {error}"))
    }
}

/// More than any request or answer has; some devices have no end.
const MAX_INPUT_BYTES: u64 = 256 * 1024 * 1024;

/// The bytes of a file, or of standard input for `-`.
fn read_input(file: &str) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let outcome = match file {
        "-" => io::stdin().lock().take(MAX_INPUT_BYTES).read_to_end(&mut bytes),
        path => File::open(path).and_then(|file| file.take(MAX_INPUT_BYTES).read_to_end(&mut bytes)),
    };
    let name = if file == "-" { "standard input" } else { file };
    match outcome {
        Ok(read) if read as u64 == MAX_INPUT_BYTES => {
            Err(CommandError::new(format!("{name} has {MAX_INPUT_BYTES} bytes or more")))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(CommandError::new(format!("{name} cannot be read: {error}"))),
    }
}

/// As [`read_input`], for text.
fn read_text(file: &str) -> Result<String, CommandError> {
    String::from_utf8(read_input(file)?).map_err(|_| CommandError::new(format!("{file} is not UTF-8 text")))
}

/// Writes to standard output. A reader that has seen enough, as `head` has, is no error.
fn print(text: &str) -> Result<(), CommandError> {
    unless_closed(writeln!(io::stdout().lock(), "{text}"), "standard output")
}

/// As [`print()`], to standard error.
fn print_aside(text: &str) -> Result<(), CommandError> {
    unless_closed(writeln!(io::stderr().lock(), "{text}"), "standard error")
}

fn unless_closed(outcome: io::Result<()>, place: &str) -> Result<(), CommandError> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(format!("cannot write to {place}: {error}")))
        }
        _ => Ok(()),
    }
}

/// The environment of this process.
pub(crate) fn environment() -> Environment {
    // A variable that is not UTF-8 is none of ours; `vars` would panic on it.
    Environment::new(
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

fn today() -> Day {
    Day::of(SystemClock.now())
}
