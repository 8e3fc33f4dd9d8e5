//! What a request needs of a model.

use signalbox_types::{Capabilities, Capability, GenerateRequest, Lane, ResponseFormat, ToolChoice};

/// What a model must be able to do and hold to serve a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// What it must be able to do.
    pub capabilities: Capabilities,
    /// Estimated tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens wanted for the answer; 0 where the request leaves it open.
    pub answer_tokens: u64,
}

impl Needs {
    /// The needs of a request whose prompt has about `prompt_tokens` tokens.
    pub fn of(request: &GenerateRequest, stream: bool, prompt_tokens: u64) -> Self {
        let prompt = &request.prompt;
        let shown = [
            (true, Capability::Text),
            (stream, Capability::Streaming),
            (prompt.images().next().is_some(), Capability::ImageInput),
            (!prompt.tools.is_empty(), Capability::Tools),
            (prompt.response_format == ResponseFormat::JsonObject, Capability::JsonObject),
            (matches!(prompt.response_format, ResponseFormat::JsonSchema { .. }), Capability::JsonSchema),
            (
                matches!(prompt.tool_choice, ToolChoice::Required | ToolChoice::Named(_)),
                Capability::ForcedTools,
            ),
            (request.lane == Lane::Batch, Capability::Batch),
        ];
        let capabilities =
            shown.into_iter().filter(|(needed, _)| *needed).map(|(_, capability)| capability).collect();
        Self {
            capabilities: request.required_capabilities.union(capabilities),
            prompt_tokens,
            answer_tokens: u64::from(prompt.max_output_tokens.unwrap_or(0)),
        }
    }
}
