//! What to do when a vendor fails. Pure: time and history come in by the argument list.

mod attempts;
mod holds;

pub use attempts::{Attempts, FailoverRules, Next};
pub use holds::Holds;
