//! The words Signalbox speaks: requests, answers, stream events, token counts, money and errors.
//!
//! Pure data. No I/O, no clock, no randomness; every other crate builds on this one.

mod answer;
mod capability;
mod drill;
mod error;
mod ids;
mod json_text;
mod message;
mod model;
mod money;
mod request;
mod stream;
mod text;
mod usage;

pub use answer::{Adjustment, Arrived, Embedding, EmbeddingAnswer, FinishReason, ModelAnswer};
pub use capability::{Capabilities, Capability};
pub use drill::DrillFault;
pub use error::{ErrorReason, Failure, Fault, FieldViolation, Quota, QuotaViolation};
pub use ids::{ModelRef, ParseModelRefError, VendorKind};
pub use json_text::{InvalidJson, JsonText};
pub use message::{
    Image, ImageDetail, ImageSource, Message, Part, Purpose, Reasoning, Role, ToolCall, ToolResult,
};
pub use model::{MaxTokensField, ModelFacts, OpenAiEndpoint, Parameter, ParameterRules, ReasoningStyle};
pub use money::{Money, NANOS_PER_EUR};
pub use request::{
    CachePolicy, EmbedRequest, FallbackPolicy, GenerateRequest, Lane, ModelSelector, Prompt, ReasoningEffort,
    ResponseFormat, Sampling, Tier, Tool, ToolChoice,
};
pub use stream::{Completion, ReasoningDelta, StreamEvent, ToolCallDelta};
pub use text::{cut, shown};
pub use usage::{TokenUsage, UsageSource};
