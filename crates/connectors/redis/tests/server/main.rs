//! What is promised of Redis, against a real server.

mod away;
mod contract;
mod crowd;
mod support;
