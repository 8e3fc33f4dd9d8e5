//! The few traits through which services reach the outside world.
//!
//! Services know these; connectors implement them; `wire(config)` in the app brings the two together.

mod access;
mod admission;
mod alerts;
pub mod batches;
pub mod cache;
mod calls;
mod charged;
mod drills;
pub mod ledger;
mod moderation;
mod rates;
mod spent;
pub mod tenants;
mod usage_bus;
pub mod usage_facts;
mod usage_log;
pub mod usage_store;
mod vendor;
pub mod vendor_batch;

pub use access::{Authenticator, Identity, Scope};
pub use admission::{
    Admission, Payer, RateLeft, RatesLeft, Reservation, Short, SpendLimit, Standing, Unlimited, Worst,
};
pub use alerts::{AlertBus, AlertHook, AlertNews, NotTold};
pub use calls::{CallOutcome, CallRecord, CallSink};
pub use charged::Charged;
pub use drills::Drills;
pub use moderation::{Judgement, ModerationEndpoint, Moderator, NotJudged};
pub use rates::{Count, NoRate, RateAsk, RateGrant, RateLimiter};
pub use spent::{SpentAway, SpentPage, SpentQuery, SpentRequest, SpentRequests};
pub use usage_bus::{BusAway, Chosen, DeadLetters, Delivery, HOLD, Letter, UsageBus};
pub use usage_log::{Entry, LogFull, NoLog, OpenAccount, Outbox, Position, UsageLog};
pub use vendor::{AnswerStream, BoxAnswerStream, VendorApi, VendorReply, VendorTarget};
