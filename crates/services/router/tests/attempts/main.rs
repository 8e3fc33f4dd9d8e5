//! Attempts of a request, at an adapter that does as it is told and in time that does not pass by itself.

mod adapter;
mod gate;
mod hedging;
mod loss;
mod vendors;
mod world;
