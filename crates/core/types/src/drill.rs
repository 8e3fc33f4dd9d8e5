//! Faults made on purpose, for a drill.

use std::{fmt, time::Duration};

/// What is done to a vendor call on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrillFault {
    /// The vendor seems to answer with this HTTP status, and is not called.
    Status(u16),
    /// The vendor is slower by this much.
    Delay(Duration),
    /// A stream breaks off after this many events with content; a whole answer breaks off, too.
    CutAfter(u32),
    /// A stream comes with this pause before each event; a whole answer is late by one pause.
    Trickle(Duration),
}

impl DrillFault {
    /// How late the vendor is called all the same, for a stream or a whole answer; `None` where it is not called.
    pub fn lateness(self, stream: bool) -> Option<Duration> {
        match self {
            Self::Status(_) => None,
            Self::Delay(delay) => Some(delay),
            Self::Trickle(pause) if !stream => Some(pause),
            Self::Trickle(_) | Self::CutAfter(_) => Some(Duration::ZERO),
        }
    }
}

impl fmt::Display for DrillFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status {status}"),
            Self::Delay(delay) => write!(f, "delay of {delay:?}"),
            Self::CutAfter(events) => write!(f, "cut after {events} events"),
            Self::Trickle(pause) => write!(f, "trickle with pauses of {pause:?}"),
        }
    }
}
