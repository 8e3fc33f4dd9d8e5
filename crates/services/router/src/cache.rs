//! The router's side of the cache: asked before a request is planned, and told of answers that passed the quality gate.
//!
//! ```text
//! look ─► hit ─► Hit: accounted for, looked at by the content policy, given whole or as a stream
//!      └► miss ─► Keep: goes along with the request; stores what serves it, or lets those who wait for it go on
//! ```
//!
//! Nothing of it fails a request, or holds it up beyond its budget.

mod client;
mod context;
mod crowd;
mod flight;
mod gather;
mod hit;
mod keep;
mod line;
mod look;
mod metrics;
mod owed;
mod replay;

pub(crate) use metrics::register as register_metrics;

pub use client::{Cache, CacheOptions};
pub(crate) use gather::Gathered;
pub(crate) use hit::Hit;
pub(crate) use keep::{Answered, Keep};
pub(crate) use look::{Asker, Met, look};
pub(crate) use replay::Replay;
