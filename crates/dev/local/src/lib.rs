//! The whole distributed system on one machine, without containers: NATS, Redis, PostgreSQL, ClickHouse's engine,
//! simulated vendors, and every role of Signalbox twice, each a process of its own.
//!
//! ```text
//! part      what there is, and how often
//! ports     where each listens
//! stack     one such system: its folder, ports, secrets; all else follows from these
//! launch    the command of each part (engines, roles)
//! process   starting it detached, and finding it again
//! up, down, roll, rotate, fit, status
//! ```

mod banner;
mod certificates;
mod down;
mod engines;
mod fit;
mod folder;
mod launch;
mod part;
mod ports;
mod process;
mod ready;
mod roles;
mod roll;
mod rotate;
mod secrets;
mod stack;
mod start;
mod status;
mod tenant;
mod up;

pub use down::down;
pub use engines::USER as ENGINES_USER;
pub use fit::{Fit, facts, fit, refit};
pub use folder::Folder;
pub use part::{Kind, Part};
pub use ports::{Ports, Purpose};
pub use process::{Ours, kill, processes};
pub use roll::roll;
pub use rotate::rotate;
pub use secrets::Secrets;
pub use stack::{Shape, Stack};
pub use status::status;
pub use tenant::TENANT;
pub use up::{Outcome, up};
