//! NATS: how processes tell each other what they have seen.
//!
//! [`Nats::connect`] returns at once and keeps the connection in the background, so that NATS being away stops nothing.
//! Each use of it is a module of its own.

mod connect;
mod health;

pub use connect::{ConnectError, Nats, NatsOptions};
