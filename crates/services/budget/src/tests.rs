//! The whole service over a real ledger in a file, with a clock that the tests set.

mod access;
mod bad_input;
mod budgets;
mod keys;
mod leases;
mod limits;
mod news;
mod orphans;
mod pruning;
mod rates;
mod reconcile;
mod rollover;
mod tenants;
mod world;
