//! What the chart renders, started as real processes.
