//! What had come of an answer that cannot be used.

use crate::estimate_answer_tokens;
use signalbox_types::{Arrived, ModelAnswer, UsageSource};

/// Of a whole answer: the vendor's report says it all, where it tells of an answer.
pub fn arrived_whole(answer: &ModelAnswer) -> Arrived {
    let arrived = arrived_in_part(answer);
    let says_all = arrived.usage.is_some_and(|usage| usage.answer_tokens() > 0);
    Arrived { answer_tokens: if says_all { 0 } else { arrived.answer_tokens }, ..arrived }
}

/// Of an answer of which a part came: the report may be a part, too.
pub fn arrived_in_part(answer: &ModelAnswer) -> Arrived {
    let usage = Some(answer.usage).filter(|usage| usage.source != UsageSource::Unknown);
    Arrived { usage, answer_tokens: estimate_answer_tokens(&answer.parts) }
}
