//! The embedded stores, in one SQLite file: nothing to install, for one machine.
//!
//! ```text
//! src/database.rs    the file: one connection that writes, several that read
//! src/migrations.rs  its tables, by version
//! src/usage/         what is in it about usage
//! ```

mod database;
mod failure;
mod migrations;
pub mod usage;

pub use database::{Database, OpenError};

#[cfg(test)]
mod tests;
