//! Accounts of requests as bytes.

use crate::v1::UsageEvent;
use prost::Message as _;

/// An account in at most `longest` bytes: where it does not fit without the record of the decision, and in the worst case
/// without reference and single attempts. What is money stays.
pub fn encode_within(event: &UsageEvent, longest: usize) -> Vec<u8> {
    let bytes = event.encode_to_vec();
    if bytes.len() <= longest {
        return bytes;
    }
    let shorter = UsageEvent { decision: None, route_reason: String::new(), ..event.clone() };
    let bytes = shorter.encode_to_vec();
    if bytes.len() <= longest {
        return bytes;
    }
    UsageEvent { reference: String::new(), attempts: Vec::new(), ..shorter }.encode_to_vec()
}
