//! What connectors share that keep their things in PostgreSQL or in one SQLite file, by the same statements.
//!
//! ```text
//! src/engine.rs      what PostgreSQL and SQLite name differently
//! src/database.rs    transactions, begun anew where the database had to break one off
//! src/patience.rs    how long is waited for what
//! src/failure.rs     what went wrong, told without a secret
//! src/migrations.rs  tables, by version
//! src/stored.rs      values as they are stored
//! ```

mod database;
mod engine;
mod failure;
mod migrations;
mod patience;
mod stored;

pub use database::{Database, Session, Work, Working};
pub use engine::Engine;
pub use failure::{Failure, OpenError};
pub use migrations::{Migrations, migrate};
pub use patience::Patience;
pub use stored::{json, most, nanos, time};

#[cfg(test)]
mod tests;
