//! Whether every request is counted once by a whole system that is up (`make up`), whoever of it is killed.
//!
//! ```text
//! clients --> router x 2 --> adapter x 2, cache x 2, budget x 2
//!               `--> NATS x 3 --> ingester x 2 --> ClickHouse's engine  <-- asked by SQL
//! ```
//!
//! Processes of every role are ended by SIGKILL in turn, drawn by a seed, at moments told by progress, and started again
//! at once or a while later. Whoever got an answer must be in ClickHouse, once. Lost may be what was under way in a
//! router, and streams that had begun through an adapter; nobody else's death costs a request.

mod caller;
mod load;
mod operator;
mod run;

pub use caller::Caller;
pub use load::{Load, Verdict};
pub use operator::Operator;
pub use run::{UpReport, UpWish, run_up, up_table};
