//! What the cache's guards let through: measured on pairs of instructions with real encoders.

pub mod sets;
