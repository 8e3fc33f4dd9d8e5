//! The watch from outside: how often it cries wolf, how late it is, and what it does with strange minutes.

mod life;
mod simulation;
mod strange;
mod traffic;
