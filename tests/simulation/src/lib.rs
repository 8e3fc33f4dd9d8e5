//! The real router against simulated vendors, in virtual time: hours of incidents in seconds, the same every time.
//!
//! A [`Scenario`] says which vendors there are, what befalls them and how many requests come. [`run`] lets a
//! [`Policy`] serve them: Signalbox's own router, with all that it has, or one of the simple ones it is compared
//! with. Every policy meets the same requests, and the same vendors with the same luck. The [`Record`] tells what
//! came of it; [`report`] and [`picture`] show it.
//!
//! Chance comes from the scenario's seed and time from a paused runtime, so a run depends on nothing else.

mod arrivals;
mod config;
mod dice;
mod fleet;
mod monitor;
mod oracle;
pub mod picture;
mod policies;
pub mod record;
pub mod recovery;
pub mod report;
mod run;
mod scenario;
pub mod scenarios;
mod signalbox;
mod world;

pub use policies::Policy;
pub use record::{Ask, Outcome, Record, Served};
pub use run::run;
pub use scenario::{Condition, Incident, Kind, Scenario, Vendor};
pub use world::Second;
