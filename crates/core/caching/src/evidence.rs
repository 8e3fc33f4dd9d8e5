//! May the answer to a near request be served? Only while it is known how often such answers were right.
//!
//! Every near request that passed the guards and was not served is an observation: once the real answer is there, the two
//! are compared ([`crate::judge`]). Observations are pooled by tenant, task and embedder ([`Pool`]), since no single entry
//! gathers enough of them, and each entry has a short record of its own ([`Record`]) that can only speak against it. Of the
//! near requests that could be served, one in fifty is not, at random, so that the evidence does not freeze.
//!
//! Evidence fades. Where one in fifty is too few to renew it, serving pauses until enough was observed again, and so keeps
//! itself at the edge of what is shown: to promise 99%, some 25 near requests a day are observed, and the others served.
//!
//! Replicas share a pool by comparing and swapping: each gathers its own observations in an empty one, merges that into
//! what is stored, and tries again with what is there if another was quicker.

mod bound;
mod decision;
mod interval;
mod pool;
mod record;
#[cfg(test)]
mod simulation;
mod special;

pub use bound::{is_at_least, lower_bound};
pub use decision::{AUDITED_SHARE, Candidate, Decision, Refusal, decide};
pub use interval::{Interval, clopper_pearson};
pub use pool::{HALF_LIFE, Pool, Standing, Tally};
pub use record::Record;

/// Chance of a bound that is too high.
pub const ALPHA: f64 = 0.05;
