//! What is shipped beside the program.

mod chart;
mod images;
mod local;
mod observability;
mod operations;
mod rendered;
