//! What a replica may start of a rate limit without asking.
//!
//! It spends slices from memory ([`RateWallet`]), which somebody else hands out ([`crate::rate_limit`]). Where nobody
//! does, it has a bucket of its own for each limit of requests and of tokens ([`Bucket`]).

mod bucket;
mod spend;

pub use bucket::{Bucket, Refused};
pub use spend::{RateHold, RateShort, RateSlice, RateWallet, What};
