//! Which models may serve a request, and in which order they are tried.
//!
//! Pure: the same input gives the same plan. The order is the catalogue's own (an alias lists its targets best
//! first); what is decided here is who is left out, and why.

mod needs;
mod plan;

pub use needs::Needs;
pub use plan::{Exclusion, Offer, Plan, plan};
