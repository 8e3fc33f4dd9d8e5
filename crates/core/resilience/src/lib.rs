//! What to do when a vendor fails. Pure: time and history come in by the argument list, and so does every random
//! number, as a value from 0 to 1.
//!
//! Each module is one small machine and knows none of the others:
//!
//! | question | module |
//! |---|---|
//! | what does a call's end say of the vendor | [`Outcome`] |
//! | how many of the last minutes' calls failed | [`Window`] |
//! | how long did they take | [`Sketch`], [`SlidingSketch`] |
//! | who is the quicker one right now | [`PeakEwma`] |
//! | may a call pass at all | [`Breaker`] |
//! | how many at once | [`AimdLimit`] |
//! | may a failed call be tried again | [`RetryBudget`], [`Attempts`] |
//! | may a slow call be asked a second time beside | [`HedgeBudget`] |
//! | how long to wait for a process of ours that died | [`Reconnect`] |
//! | who is left alone, and how to come back | [`Hold`], [`DoublingHold`], [`RecoveringWeight`] |
//! | who is asked and serves nothing | [`Strike`] |

mod attempts;
mod breaker;
mod ewma;
mod hedge_budget;
mod holds;
mod limit;
mod outcome;
mod reconnect;
mod recovery;
mod retry_budget;
mod sketch;
mod sliding_sketch;
mod strike;
mod ticks;
mod unit;
mod window;

pub use attempts::{Attempts, FailoverRules, Next};
pub use breaker::{Breaker, BreakerRules, BreakerState, Permit};
pub use ewma::PeakEwma;
pub use hedge_budget::HedgeBudget;
pub use holds::{DoublingHold, Hold, with_jitter};
pub use limit::AimdLimit;
pub use outcome::Outcome;
pub use reconnect::Reconnect;
pub use recovery::RecoveringWeight;
pub use retry_budget::{RetryBudget, RetryRules};
pub use sketch::{Quantiles, Sketch, SketchError};
pub use sliding_sketch::SlidingSketch;
pub use strike::Strike;
pub use window::{Counts, Window};
