//! A whole answer.

use super::Content;
use crate::gate::Gate;
use signalbox_api::v1::{self, FinishReason, part::Part};
use signalbox_quality::content::{Inspection, Place};
use signalbox_types::Failure;

/// Why an answer is not given out.
#[derive(Debug)]
pub enum Withheld {
    /// The content policy refuses it: nothing else is tried.
    Refused(Failure),
    /// It is not what was asked for.
    Invalid(Failure),
}

impl Content {
    /// Looks at an answer, redacts what must be, and fails where it must not be given out. The policy goes before the
    /// gate, as in a stream; what is redacted must pass the gate as well.
    pub async fn release(
        &mut self,
        parts: &mut Vec<v1::Part>,
        gate: Option<&Gate>,
        finish: FinishReason,
    ) -> Result<(), Withheld> {
        let mut inspection = self.policy.rules.inspect(Place::Output);
        let mut seen = parts.clone();
        redact(&mut seen, self.structured, &mut inspection);
        self.conclude(&inspection, Place::Output).map_err(Withheld::Refused)?;
        let texts = || seen.iter().filter_map(text).cloned().collect();
        self.judge_texts(Place::Output, texts).await.map_err(Withheld::Refused)?;
        let check = |parts: &mut _| gate.map_or(Ok(()), |gate| gate.check(parts, finish));
        check(parts).map_err(Withheld::Invalid)?;
        if inspection.redactions() == 0 {
            return Ok(());
        }
        // Anew: the gate may have taken JSON out of what stood around it.
        redact(parts, self.structured, &mut self.policy.rules.inspect(Place::Output));
        check(parts).map_err(|_| Withheld::Refused(self.spoilt(&inspection)))
    }
}

fn redact(parts: &mut [v1::Part], structured: bool, inspection: &mut Inspection) {
    for part in parts.iter_mut().filter_map(|part| part.part.as_mut()) {
        redact_part(part, structured, inspection);
    }
}

fn redact_part(part: &mut Part, structured: bool, inspection: &mut Inspection) {
    let (text, redacted) = match part {
        Part::Text(text) if structured => {
            let redacted = inspection.json(text);
            (text, redacted)
        }
        Part::Text(text) => {
            let redacted = inspection.text(text);
            (text, redacted)
        }
        Part::ToolCall(call) => {
            let redacted = inspection.json(&call.arguments);
            (&mut call.arguments, redacted)
        }
        Part::Reasoning(reasoning) => {
            let redacted = inspection.text(&reasoning.text);
            if redacted.is_some() {
                // It vouches for the text as it was.
                reasoning.signature.clear();
            }
            (&mut reasoning.text, redacted)
        }
        Part::Image(_) | Part::ToolResult(_) => return,
    };
    if let Some(redacted) = redacted {
        *text = redacted;
    }
}

/// What a moderation endpoint is shown.
fn text(part: &v1::Part) -> Option<&String> {
    match part.part.as_ref()? {
        Part::Text(text) => Some(text),
        Part::ToolCall(call) => Some(&call.arguments),
        Part::Reasoning(reasoning) => Some(&reasoning.text),
        Part::Image(_) | Part::ToolResult(_) => None,
    }
}
