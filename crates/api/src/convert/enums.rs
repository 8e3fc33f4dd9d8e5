//! Enumerations, one table each.

use crate::v1;
use signalbox_types::{
    CachePolicy, Capability, FallbackPolicy, FinishReason, ImageDetail, Lane, Purpose, ReasoningEffort, Tier,
};

/// A capability on the wire.
pub fn capability_to_proto(capability: Capability) -> v1::Capability {
    match capability {
        Capability::Text => v1::Capability::Text,
        Capability::Streaming => v1::Capability::Streaming,
        Capability::ImageInput => v1::Capability::ImageInput,
        Capability::Tools => v1::Capability::Tools,
        Capability::ParallelTools => v1::Capability::ParallelTools,
        Capability::ForcedTools => v1::Capability::ForcedTools,
        Capability::JsonObject => v1::Capability::JsonObject,
        Capability::JsonSchema => v1::Capability::JsonSchema,
        Capability::Reasoning => v1::Capability::Reasoning,
        Capability::Embeddings => v1::Capability::Embeddings,
        Capability::Batch => v1::Capability::Batch,
    }
}

pub(super) fn capability_from_proto(value: i32) -> Option<Capability> {
    let wanted = v1::Capability::try_from(value).ok()?;
    Capability::ALL.into_iter().find(|capability| capability_to_proto(*capability) == wanted)
}

/// A price class on the wire.
pub fn tier_to_proto(tier: Tier) -> v1::Tier {
    match tier {
        Tier::Premium => v1::Tier::Premium,
        Tier::Standard => v1::Tier::Standard,
        Tier::Economy => v1::Tier::Economy,
    }
}

/// A price class from the wire; `None` where it is not said.
pub fn tier_from_proto(tier: v1::Tier) -> Option<Tier> {
    match tier {
        v1::Tier::Unspecified => None,
        v1::Tier::Premium => Some(Tier::Premium),
        v1::Tier::Standard => Some(Tier::Standard),
        v1::Tier::Economy => Some(Tier::Economy),
    }
}

/// A finish reason on the wire.
pub fn finish_reason_to_proto(reason: FinishReason) -> v1::FinishReason {
    match reason {
        FinishReason::Unknown => v1::FinishReason::Unspecified,
        FinishReason::Stop => v1::FinishReason::Stop,
        FinishReason::StopSequence => v1::FinishReason::StopSequence,
        FinishReason::Length => v1::FinishReason::Length,
        FinishReason::ToolCalls => v1::FinishReason::ToolCalls,
        FinishReason::ContentFilter => v1::FinishReason::ContentFilter,
        FinishReason::Refusal => v1::FinishReason::Refusal,
        FinishReason::ContextExceeded => v1::FinishReason::ContextExceeded,
        FinishReason::Pause => v1::FinishReason::Pause,
        FinishReason::MalformedToolCall => v1::FinishReason::MalformedToolCall,
    }
}

/// What the contract's word for it stands for. Unknown where it says nothing.
pub fn finish_reason_from_proto(reason: v1::FinishReason) -> FinishReason {
    match reason {
        v1::FinishReason::Unspecified => FinishReason::Unknown,
        v1::FinishReason::Stop => FinishReason::Stop,
        v1::FinishReason::StopSequence => FinishReason::StopSequence,
        v1::FinishReason::Length => FinishReason::Length,
        v1::FinishReason::ToolCalls => FinishReason::ToolCalls,
        v1::FinishReason::ContentFilter => FinishReason::ContentFilter,
        v1::FinishReason::Refusal => FinishReason::Refusal,
        v1::FinishReason::ContextExceeded => FinishReason::ContextExceeded,
        v1::FinishReason::Pause => FinishReason::Pause,
        v1::FinishReason::MalformedToolCall => FinishReason::MalformedToolCall,
    }
}

pub(super) fn effort_from_proto(effort: v1::ReasoningEffort) -> Option<ReasoningEffort> {
    match effort {
        v1::ReasoningEffort::Unspecified => None,
        v1::ReasoningEffort::None => Some(ReasoningEffort::None),
        v1::ReasoningEffort::Minimal => Some(ReasoningEffort::Minimal),
        v1::ReasoningEffort::Low => Some(ReasoningEffort::Low),
        v1::ReasoningEffort::Medium => Some(ReasoningEffort::Medium),
        v1::ReasoningEffort::High => Some(ReasoningEffort::High),
        v1::ReasoningEffort::Xhigh => Some(ReasoningEffort::Xhigh),
        v1::ReasoningEffort::Max => Some(ReasoningEffort::Max),
    }
}

pub(super) fn effort_to_proto(effort: Option<ReasoningEffort>) -> v1::ReasoningEffort {
    match effort {
        None => v1::ReasoningEffort::Unspecified,
        Some(ReasoningEffort::None) => v1::ReasoningEffort::None,
        Some(ReasoningEffort::Minimal) => v1::ReasoningEffort::Minimal,
        Some(ReasoningEffort::Low) => v1::ReasoningEffort::Low,
        Some(ReasoningEffort::Medium) => v1::ReasoningEffort::Medium,
        Some(ReasoningEffort::High) => v1::ReasoningEffort::High,
        Some(ReasoningEffort::Xhigh) => v1::ReasoningEffort::Xhigh,
        Some(ReasoningEffort::Max) => v1::ReasoningEffort::Max,
    }
}

pub(super) fn detail_from_proto(detail: v1::ImageDetail) -> ImageDetail {
    match detail {
        v1::ImageDetail::Unspecified => ImageDetail::Auto,
        v1::ImageDetail::Low => ImageDetail::Low,
        v1::ImageDetail::High => ImageDetail::High,
    }
}

pub(super) fn detail_to_proto(detail: ImageDetail) -> v1::ImageDetail {
    match detail {
        ImageDetail::Auto => v1::ImageDetail::Unspecified,
        ImageDetail::Low => v1::ImageDetail::Low,
        ImageDetail::High => v1::ImageDetail::High,
    }
}

pub(super) fn purpose_from_proto(purpose: v1::Purpose) -> Purpose {
    match purpose {
        v1::Purpose::Unspecified => Purpose::Unspecified,
        v1::Purpose::Instruction => Purpose::Instruction,
        v1::Purpose::Content => Purpose::Content,
    }
}

pub(super) fn purpose_to_proto(purpose: Purpose) -> v1::Purpose {
    match purpose {
        Purpose::Unspecified => v1::Purpose::Unspecified,
        Purpose::Instruction => v1::Purpose::Instruction,
        Purpose::Content => v1::Purpose::Content,
    }
}

pub(super) fn lane_from_proto(lane: v1::Lane) -> Lane {
    match lane {
        v1::Lane::Unspecified | v1::Lane::Interactive => Lane::Interactive,
        v1::Lane::Batch => Lane::Batch,
    }
}

/// A lane on the wire.
pub fn lane_to_proto(lane: Lane) -> v1::Lane {
    match lane {
        Lane::Interactive => v1::Lane::Interactive,
        Lane::Batch => v1::Lane::Batch,
    }
}

pub(super) fn cache_from_proto(mode: v1::CacheMode) -> CachePolicy {
    match mode {
        v1::CacheMode::Unspecified => CachePolicy::Default,
        v1::CacheMode::ExactOnly => CachePolicy::ExactOnly,
        v1::CacheMode::Refresh => CachePolicy::Refresh,
        v1::CacheMode::Bypass => CachePolicy::Bypass,
    }
}

pub(super) fn cache_to_proto(policy: CachePolicy) -> v1::CacheMode {
    match policy {
        CachePolicy::Default => v1::CacheMode::Unspecified,
        CachePolicy::ExactOnly => v1::CacheMode::ExactOnly,
        CachePolicy::Refresh => v1::CacheMode::Refresh,
        CachePolicy::Bypass => v1::CacheMode::Bypass,
    }
}

pub(super) fn fallback_from_proto(mode: v1::FallbackMode) -> FallbackPolicy {
    match mode {
        v1::FallbackMode::Unspecified => FallbackPolicy::Default,
        v1::FallbackMode::Disabled => FallbackPolicy::Disabled,
    }
}

pub(super) fn fallback_to_proto(policy: FallbackPolicy) -> v1::FallbackMode {
    match policy {
        FallbackPolicy::Default => v1::FallbackMode::Unspecified,
        FallbackPolicy::Disabled => v1::FallbackMode::Disabled,
    }
}
