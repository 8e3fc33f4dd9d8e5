//! What cannot be shown in a system that is up, and why. All of it is shown in processes of a test's own.

/// Names of tests, each with the reason.
pub(super) const LEFT_OUT: [(&str, &str); 0] = [];
