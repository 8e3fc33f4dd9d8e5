//! The lane over a real store, with a router, an adapter and a ledger that do as they are told.

mod access;
mod accounts;
mod bank;
mod hand_over;
mod patience;
mod refused;
mod results;
mod router;
mod submit;
mod unshown;
mod usual;
mod vendor;
pub(crate) mod world;
