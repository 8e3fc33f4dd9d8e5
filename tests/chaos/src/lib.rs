//! Whether every request is counted exactly once while the processes that account for it are killed.
//!
//! ```text
//! publisher (spool, forwarder) --> NATS --> ingester --> ClickHouse's engine     `nats`, `cluster`
//! publisher (spool) and ingester in one process --> SQLite                       `embedded`
//! ```
//!
//! Everyone is a real process and is ended by SIGKILL, drawn by a seed, at moments told by progress, not by time. What
//! is published follows from the seed, too, so that a publisher that is started again goes on where its spool ends, and
//! what must be stored is known to the nano-EUR.

mod answers;
mod budget;
mod bus;
mod check;
mod field;
mod ingesters;
mod ledger;
mod member;
pub mod parts;
mod publish;
mod report;
mod run;
mod stall;
mod strikes;
mod tables;
mod told;
pub mod up;

pub use budget::{BudgetReport, BudgetVictim, BudgetWish, budget_table, run_budget};
pub use field::{Mode, Wish};
pub use ledger::Ledger;
pub use publish::Publishing;
pub use report::table;
pub use run::{Report, run};
pub use strikes::Victim;
