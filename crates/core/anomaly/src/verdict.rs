//! What a detector says of a minute.

/// How a measure stands against what is expected of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Unlike its history.
    Breach,
    /// Neither: an alert that is open stays so, and none opens.
    Between,
    /// As ever.
    Calm,
}

/// A standing, and the values that led to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) standing: Standing,
    pub(crate) observed: f64,
    pub(crate) expected: f64,
    pub(crate) threshold: f64,
}
