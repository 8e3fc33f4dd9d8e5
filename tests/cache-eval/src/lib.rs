//! What matching by meaning serves and what it should not have: measured on pairs of instructions with real encoders,
//! with and without the guards.
//!
//! `eval-cache` writes the tables and the picture of `docs/cache.md`. The tests do the same with an encoder that needs
//! nothing installed, and with texts that a generator makes.

pub mod encoders;
pub mod generated;
pub mod interval;
pub mod measure;
pub mod picture;
pub mod report;
pub mod sets;
