//! The service from end to end, over the memory store, at a time that the test sets.

mod access;
mod away;
mod flights;
mod hits;
mod invalidation;
mod isolation;
mod meaning;
mod redis;
mod refusals;
mod statistics;
mod trick;
mod world;
