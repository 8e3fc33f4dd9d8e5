//! How fast requests and tokens may come.
//!
//! A replica spends a slice of each limit from memory ([`RateWallet`]). Who hands the slices out keeps one bucket for
//! each limit of requests and of tokens ([`Bucket`]).

mod bucket;
mod spend;

pub use bucket::{Bucket, Refused};
pub use spend::{RateHold, RateShort, RateSlice, RateWallet, What};
