//! Attempts of a request, at an adapter that does as it is told and in time that does not pass by itself.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

mod accounts;
mod adapter;
mod bank;
mod batch;
mod book;
mod budget;
mod cache;
mod gate;
mod hedging;
mod loss;
mod shelf;
mod tenants;
mod vendors;
mod world;
