//! What the chart renders, started as real processes.

mod by_hand;
