//! The quality gate: structured output is what was asked for, or it is not given out as if it were.

use signalbox_api::{convert::finish_reason_from_proto, v1};
use signalbox_quality::{
    Schemas,
    gate::{Verdict, check, is_gated},
};
use signalbox_types::{ErrorReason, Failure, Part, Prompt, ToolCall};

/// What an answer is held to; `None` where nothing was asked of its form.
#[derive(Debug, Clone)]
pub struct Gate(Prompt);

impl Gate {
    /// What a prompt asks of its answer's form.
    pub fn of(prompt: &Prompt) -> Option<Self> {
        is_gated(prompt).then(|| {
            // Only the form matters here, not the conversation.
            Self(Prompt {
                response_format: prompt.response_format.clone(),
                tool_choice: prompt.tool_choice.clone(),
                tools: prompt.tools.clone(),
                ..Prompt::default()
            })
        })
    }

    /// Checks an answer, and puts JSON that stood between other words in their place.
    pub fn check(&self, content: &mut Vec<v1::Part>, finish: v1::FinishReason) -> Result<(), Failure> {
        let parts: Vec<Part> = content.iter().filter_map(read).collect();
        match check(Schemas::shared(), &self.0, &parts, finish_reason_from_proto(finish)) {
            Verdict::Pass => Ok(()),
            Verdict::Recovered { json } => {
                let is_text = |part: &v1::Part| matches!(part.part, Some(v1::part::Part::Text(_)));
                content.retain(|part| !is_text(part));
                content.push(v1::Part { part: Some(v1::part::Part::Text(json)), ..Default::default() });
                Ok(())
            }
            Verdict::Invalid { message } => Err(Failure::new(ErrorReason::OutputInvalid, message)),
        }
    }
}

/// The parts that the gate looks at.
fn read(part: &v1::Part) -> Option<Part> {
    match part.part.as_ref()? {
        v1::part::Part::Text(text) => Some(Part::text(text.clone())),
        v1::part::Part::ToolCall(call) => Some(Part::ToolCall(ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            signature: None,
        })),
        _ => None,
    }
}

/// Gathers a streamed answer, to be checked at its end.
#[derive(Debug)]
pub struct StreamGate {
    gate: Gate,
    text: String,
    calls: Vec<v1::ToolCall>,
}

impl StreamGate {
    /// Of an answer that begins.
    pub fn new(gate: Gate) -> Self {
        Self { gate, text: String::new(), calls: Vec::new() }
    }

    /// More text.
    pub fn text(&mut self, delta: &v1::TextDelta) {
        self.text.push_str(&delta.text);
    }

    /// More of a tool call.
    pub fn call(&mut self, delta: &v1::ToolCallDelta) {
        let index = delta.index as usize;
        if index >= self.calls.len() {
            // Indexes are dense, so this adds one.
            self.calls.push(v1::ToolCall::default());
        }
        if let Some(call) = self.calls.get_mut(index) {
            call.id.push_str(&delta.id);
            call.name.push_str(&delta.name);
            call.arguments.push_str(&delta.arguments);
        }
    }

    /// Checks the whole. What stood around the JSON has been sent already, so it must be bare enough to be found.
    pub fn check(self, finish: v1::FinishReason) -> Result<(), Failure> {
        use v1::part::Part as Wire;
        let text = (!self.text.is_empty()).then_some(Wire::Text(self.text));
        let parts = text.into_iter().chain(self.calls.into_iter().map(Wire::ToolCall));
        let mut content = parts.map(|part| v1::Part { part: Some(part), ..Default::default() }).collect();
        self.gate.check(&mut content, finish)
    }
}
