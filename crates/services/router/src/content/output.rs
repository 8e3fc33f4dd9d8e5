//! A whole answer.

use super::Content;
use signalbox_api::v1::{self, part::Part};
use signalbox_quality::content::{Inspection, Place};
use signalbox_types::Failure;

impl Content {
    /// Looks at an answer, redacts what must be, and fails where it must not be given out.
    pub(crate) async fn release(&mut self, parts: &mut [v1::Part]) -> Result<(), Failure> {
        if self.policy.rules.looks_at(Place::Output) {
            let mut inspection = self.policy.rules.inspect(Place::Output);
            for part in parts.iter_mut().filter_map(|part| part.part.as_mut()) {
                redact_part(part, self.structured, &mut inspection);
            }
            self.conclude(&inspection, Place::Output)?;
        }
        self.judge_texts(Place::Output, || parts.iter().filter_map(text).cloned().collect()).await
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
