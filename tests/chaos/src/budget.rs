//! Whether a limit holds while all who keep it are killed.
//!
//! ```text
//! 64 clients --> router (lease, spool) x 3 --> budget x 2 --> PostgreSQL, Redis
//!                   |                            `-- compares with the ingester's store
//!                   `--> NATS --> ingester --> SQLite
//! ```
//!
//! All clients call for one tenant with one hard budget, until it is used up; some leave before their answer is whole.
//! Routers, budget services, PostgreSQL and Redis are ended by SIGKILL, drawn by a seed, at moments told by progress.
//! After that the ledger must have each request once, at its cost, as the usage store has it; the limit must not be
//! passed; and nothing may be held when everybody has stopped.

mod crowd;
mod field;
mod run;
mod table;
mod verdict;

pub use field::BudgetVictim;
pub use run::{BudgetReport, BudgetWish, run_budget};
pub use table::budget_table;
