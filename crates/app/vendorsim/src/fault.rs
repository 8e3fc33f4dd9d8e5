//! Faults: what goes wrong with an answer, and how it is written down.

use crate::batches::Plan;
use crate::problem::{Kind, Problem};
use std::str::FromStr;
use std::time::Duration;

/// Something that goes wrong. Written as in `status=429,retry-after=2` or `cut=5,delay=20`; see the crate's page
/// for every part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    spec: String,
    pub(crate) down: bool,
    pub(crate) hang: bool,
    /// The request is carried out, and nothing is said about it.
    pub(crate) lost: bool,
    pub(crate) delay: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) trickle: Duration,
    pub(crate) refusal: Option<Refusal>,
    pub(crate) mishap: Option<Mishap>,
    pub(crate) malformed: bool,
    pub(crate) echo: bool,
    /// The credentials that errors repeat.
    pub(crate) heard: Option<String>,
    pub(crate) quirks: Quirks,
    /// What is to become of a batch that is handed over or cancelled.
    pub(crate) plan: Plan,
}

/// An error in place of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: Option<u16>,
    kind: Option<Kind>,
    retry_after: Option<u64>,
    silent: bool,
}

/// How a body ends early, after a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// The connection closes in the middle of a line.
    Cut(u64),
    /// The vendor reports an error within the stream.
    Error(u64),
    /// Nothing more comes, and the connection stays open.
    Stall(u64),
}

/// Oddities in an answer that is otherwise whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// No token counts.
    pub(crate) no_usage: bool,
    /// No finish reason.
    pub(crate) no_finish: bool,
    /// An empty finish reason.
    pub(crate) empty_finish: bool,
    /// Every tool call has index 0.
    pub(crate) dup_index: bool,
    /// Tool calls carry no id.
    pub(crate) no_ids: bool,
    /// Percent of the quota that the headers say is left; all of it where not said.
    pub(crate) quota: Option<u64>,
}

impl Quirks {
    /// The finish reason as it goes out.
    pub(crate) fn finish<'a>(&self, reason: &'a str) -> Option<&'a str> {
        match self {
            Self { no_finish: true, .. } => None,
            Self { empty_finish: true, .. } => Some(""),
            _ => Some(reason),
        }
    }
}

impl Fault {
    /// Reads a fault.
    ///
    /// # Errors
    /// The part that is not understood.
    pub fn parse(spec: &str) -> Result<Self, UnknownFault> {
        let mut fault = Self { spec: spec.to_owned(), ..Self::default() };
        for part in spec.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').map_or((part, ""), |(name, value)| (name.trim(), value.trim()));
            fault.add(name, value).ok_or_else(|| UnknownFault { part: part.to_owned() })?;
        }
        Ok(fault)
    }

    fn add(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "down" => self.down = true,
            "hang" => self.hang = true,
            "lost" => self.lost = true,
            "refuse" => self.plan.refuse = true,
            "hold" if value.is_empty() => self.plan.hold = Some(0),
            "malformed" => self.malformed = true,
            "echo" => self.echo = true,
            "no-usage" => self.quirks.no_usage = true,
            "no-finish" => self.quirks.no_finish = true,
            "empty-finish" => self.quirks.empty_finish = true,
            "dup-index" => self.quirks.dup_index = true,
            "no-ids" => self.quirks.no_ids = true,
            "no-retry-after" => self.refusal_mut().silent = true,
            "kind" => self.refusal_mut().kind = Some(Kind::named(value)?),
            _ => return self.add_number(name, value.parse().ok()?),
        }
        (value.is_empty() || name == "kind").then_some(())
    }

    fn add_number(&mut self, name: &str, number: u64) -> Option<()> {
        match name {
            "status" => self.refusal_mut().status = Some(error_status(number)?),
            "retry-after" => self.refusal_mut().retry_after = Some(number),
            "delay" => self.delay = Duration::from_millis(number),
            "first-byte" => self.first_byte = Duration::from_millis(number),
            "trickle" => self.trickle = Duration::from_millis(number),
            "cut" => self.mishap = Some(Mishap::Cut(number)),
            "error" => self.mishap = Some(Mishap::Error(number)),
            "quota" if number <= 100 => self.quirks.quota = Some(number),
            "stall" => self.mishap = Some(Mishap::Stall(number)),
            "hold" => self.plan.hold = Some(usize::try_from(number).ok()?),
            "expire" => self.plan.expire = Some(usize::try_from(number).ok()?),
            "batch-time" => self.plan.time = Some(Duration::from_millis(number)),
            _ => return None,
        }
        Some(())
    }

    fn refusal_mut(&mut self) -> &mut Refusal {
        self.refusal.get_or_insert_default()
    }

    /// The fault as it was written.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }
}

fn error_status(number: u64) -> Option<u16> {
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

impl Refusal {
    /// The error, before a vendor words it.
    pub(crate) fn problem(self) -> Problem {
        let kind = self.kind.or_else(|| self.status.map(Kind::of_status)).unwrap_or(Kind::Rate);
        let usual = matches!(kind, Kind::Rate | Kind::SlowDown).then_some(1);
        let retry_after = if self.silent { None } else { self.retry_after.or(usual) };
        Problem { kind, status: self.status, retry_after, ..Problem::default() }
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(spec: &str) -> Result<Self, Self::Err> {
        Self::parse(spec)
    }
}

/// A part of a fault that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFault {
    part: String,
}

impl std::fmt::Display for UnknownFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not part of a fault", self.part)
    }
}

impl std::error::Error for UnknownFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let fault = Fault::parse("status=429, retry-after=7,delay=20").unwrap();
        assert_eq!(fault.delay, Duration::from_millis(20));
        let problem = fault.refusal.unwrap().problem();
        assert_eq!((problem.kind, problem.status, problem.retry_after), (Kind::Rate, Some(429), Some(7)));
    }

    #[test]
    fn a_kind_alone_is_an_error_too() {
        let problem = Fault::parse("kind=context").unwrap().refusal.unwrap().problem();
        assert_eq!((problem.kind, problem.status, problem.retry_after), (Kind::Context, None, None));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for spec in
            ["cut", "cut=x", "quota=101", "status=200", "kind=odd", "down=1", "expire", "hold=x", "surprise"]
        {
            assert_eq!(
                Fault::parse(spec).unwrap_err().to_string(),
                format!("`{spec}` is not part of a fault")
            );
        }
    }
}
