//! Rates.

fn main() {}
