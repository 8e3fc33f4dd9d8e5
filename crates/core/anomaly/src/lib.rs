//! Which models behave unlike their own history. Pure: minutes come in one after the other, changes of alerts go out,
//! and the same minutes always give the same alerts.
//!
//! Each module is one idea:
//!
//! | question | module |
//! |---|---|
//! | what is counted in a minute | [`Tally`], [`Minute`] |
//! | what is measured, and on which scale | [`Measure`], `scale` |
//! | what does its history lead one to expect | `baseline`, from `seasons` and `dispersion` |
//! | is it worse than that for some minutes | `cusum` |
//! | is it a little worse for hours | `drift` |
//! | is it plainly bad, whatever its history | `guard` |
//! | has it just become worse | `surge` |
//! | which of these are watched | [`Rule`], [`shipped`] |
//! | when does an alert open, get worse and close | [`Alert`], [`Timing`] |
//! | all of it together | [`Watch`] |

mod alert;
mod baseline;
mod cusum;
mod describe;
mod detector;
mod dispersion;
mod drift;
mod guard;
mod measure;
mod minute;
mod post;
mod rule;
mod scale;
mod seasons;
mod surge;
mod tally;
mod track;
mod verdict;
mod watch;

pub use alert::{Alert, State, Subject, Timing};
pub use measure::Measure;
pub use minute::Minute;
pub use rule::{Per, Rule, Test, shipped};
pub use tally::Tally;
pub use watch::{Calls, Watch};
