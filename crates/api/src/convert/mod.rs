//! Between the wire and the core. Reading checks everything that can be checked without a catalogue and names every
//! field at fault; writing cannot fail.

mod answer;
mod drill;
mod enums;
mod request;
mod time;
mod validate;

pub use answer::{
    adjustments_from_proto, adjustments_to_proto, cost_to_proto, part_to_proto, reasoning_delta_to_proto,
    tool_call_delta_to_proto, usage_from_proto, usage_to_proto,
};
pub use drill::{drill_fault_from_proto, drill_fault_to_proto};
pub use enums::{
    capability_to_proto, finish_reason_from_proto, finish_reason_to_proto, lane_to_proto, tier_from_proto,
    tier_to_proto,
};
pub use request::{
    check_embed_request, embed_request_from_proto, generate_request_from_proto, generate_request_to_proto,
};
pub use time::{duration_from_proto, duration_to_proto};
pub use validate::{Violations, known_enum};
