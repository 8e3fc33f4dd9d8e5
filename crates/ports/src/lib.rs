//! The few traits through which services reach the outside world.
//!
//! Services know these; connectors implement them; `wire(config)` in the app brings the two together.

mod usage;
mod vendor;

pub use usage::{CallOutcome, CallRecord, UsageSink};
pub use vendor::{AnswerStream, BoxAnswerStream, VendorApi, VendorReply, VendorTarget};
