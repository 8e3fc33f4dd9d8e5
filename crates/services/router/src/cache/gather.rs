//! A streamed answer, put together as it passes.

use signalbox_api::v1::{self, part, stream_generate_response::Event};

/// The largest answer that is put together.
const MOST_BYTES: usize = 256 << 10;

/// What has come of an answer; nothing once it cannot be kept.
#[derive(Debug, Default)]
pub(crate) struct Gathered(Option<Vec<v1::Part>>, usize);

impl Gathered {
    /// Of an answer that may be kept.
    pub(crate) fn new() -> Self {
        Self(Some(Vec::new()), 0)
    }

    /// An event has passed on its way to the caller.
    pub(crate) fn take(&mut self, event: &Event) {
        let Self(Some(parts), bytes) = self else { return };
        match event {
            Event::TextDelta(delta) => {
                *bytes += delta.text.len();
                text(parts, &delta.text);
            }
            Event::ReasoningDelta(delta) => {
                *bytes += delta.text.len() + delta.signature.len();
                reasoning(parts, delta);
            }
            Event::ToolCallDelta(_) => self.0 = None,
            Event::Done(_) => {}
        }
        if self.1 > MOST_BYTES {
            self.0 = None;
        }
    }

    /// All of it; `None` where it cannot be kept.
    pub(crate) fn whole(self) -> Option<Vec<v1::Part>> {
        self.0
    }
}

fn text(parts: &mut Vec<v1::Part>, more: &str) {
    match parts.last_mut().and_then(|part| part.part.as_mut()) {
        Some(part::Part::Text(text)) => text.push_str(more),
        _ => parts.push(part_of(part::Part::Text(more.to_owned()))),
    }
}

/// A block ends with its signature, or where it is withheld.
fn reasoning(parts: &mut Vec<v1::Part>, delta: &v1::ReasoningDelta) {
    match parts.last_mut().and_then(|part| part.part.as_mut()) {
        Some(part::Part::Reasoning(block)) if block.signature.is_empty() && !block.redacted => {
            block.text.push_str(&delta.text);
            block.signature.push_str(&delta.signature);
            block.redacted |= delta.redacted;
            if block.vendor.is_empty() {
                block.vendor.clone_from(&delta.vendor);
            }
        }
        _ => parts.push(part_of(part::Part::Reasoning(v1::Reasoning {
            text: delta.text.clone(),
            signature: delta.signature.clone(),
            redacted: delta.redacted,
            vendor: delta.vendor.clone(),
        }))),
    }
}

fn part_of(part: part::Part) -> v1::Part {
    v1::Part { part: Some(part), ..Default::default() }
}

#[cfg(test)]
mod tests;
