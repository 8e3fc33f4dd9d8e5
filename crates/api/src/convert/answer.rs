//! Answers, their pieces and their accounts.

use super::enums::purpose_to_proto;
use crate::v1;
use signalbox_types::{
    Adjustment, ImageSource, Money, Part, Reasoning, ReasoningDelta, TokenUsage, ToolCall, ToolCallDelta,
    UsageSource,
};

/// A part on the wire.
pub fn part_to_proto(part: Part) -> v1::Part {
    use v1::part::Part as Wire;
    let mut purpose = v1::Purpose::Unspecified;
    let part = match part {
        Part::Text { text, purpose: of } => {
            purpose = purpose_to_proto(of);
            Wire::Text(text)
        }
        Part::Image(image) => {
            let detail = super::enums::detail_to_proto(image.detail) as i32;
            let (source, media_type) = match image.source {
                ImageSource::Inline { media_type, data } => (v1::image::Source::Data(data), media_type),
                ImageSource::Url(url) => (v1::image::Source::Url(url), String::new()),
            };
            Wire::Image(v1::Image { source: Some(source), media_type, detail })
        }
        Part::ToolCall(ToolCall { id, name, arguments, signature }) => {
            Wire::ToolCall(v1::ToolCall { id, name, arguments, signature: signature.unwrap_or_default() })
        }
        Part::ToolResult(result) => Wire::ToolResult(v1::ToolResult {
            tool_call_id: result.tool_call_id,
            name: result.name,
            content: result.content,
            is_error: result.is_error,
        }),
        Part::Reasoning(Reasoning { text, signature, redacted, vendor }) => Wire::Reasoning(v1::Reasoning {
            text,
            signature: signature.unwrap_or_default(),
            redacted,
            vendor,
        }),
    };
    v1::Part { part: Some(part), purpose: purpose as i32 }
}

/// A piece of a tool call on the wire.
pub fn tool_call_delta_to_proto(delta: ToolCallDelta) -> v1::ToolCallDelta {
    v1::ToolCallDelta {
        index: delta.index,
        id: delta.id,
        name: delta.name,
        arguments: delta.arguments,
        signature: delta.signature.unwrap_or_default(),
    }
}

/// A piece of reasoning on the wire.
pub fn reasoning_delta_to_proto(delta: ReasoningDelta) -> v1::ReasoningDelta {
    v1::ReasoningDelta {
        text: delta.text,
        signature: delta.signature.unwrap_or_default(),
        redacted: delta.redacted,
        vendor: delta.vendor,
    }
}

/// Token counts on the wire.
pub fn usage_to_proto(usage: &TokenUsage) -> v1::TokenUsage {
    let source = match usage.source {
        UsageSource::Unknown => v1::token_usage::Source::Unspecified,
        UsageSource::Vendor => v1::token_usage::Source::Vendor,
        UsageSource::Estimated => v1::token_usage::Source::Estimated,
    };
    v1::TokenUsage {
        input_tokens: usage.input,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
        cache_write_1h_tokens: usage.cache_write_1h,
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning,
        source: source as i32,
    }
}

/// Token counts from the wire.
pub fn usage_from_proto(usage: &v1::TokenUsage) -> TokenUsage {
    let source = match usage.source() {
        v1::token_usage::Source::Unspecified => UsageSource::Unknown,
        v1::token_usage::Source::Vendor => UsageSource::Vendor,
        v1::token_usage::Source::Estimated => UsageSource::Estimated,
    };
    TokenUsage {
        input: usage.input_tokens,
        cache_read: usage.cache_read_tokens,
        cache_write: usage.cache_write_tokens,
        cache_write_1h: usage.cache_write_1h_tokens,
        output: usage.output_tokens,
        reasoning: usage.reasoning_tokens,
        source,
        vendor_cost_usd_ticks: None,
    }
}

/// A cost on the wire; `None` is "unknown", which is not free.
pub fn cost_to_proto(cost: Option<Money>, price_version: &str) -> v1::Cost {
    v1::Cost {
        nano_eur: cost.unwrap_or_default().nano_eur(),
        unknown: cost.is_none(),
        price_version: price_version.to_owned(),
    }
}

/// What was changed, on the wire.
pub fn adjustments_to_proto(adjustments: Vec<Adjustment>) -> Vec<v1::Adjustment> {
    adjustments
        .into_iter()
        .map(|adjustment| v1::Adjustment {
            field: adjustment.field.into_owned(),
            description: adjustment.description.into_owned(),
        })
        .collect()
}

/// What was changed, from the wire.
pub fn adjustments_from_proto(adjustments: Vec<v1::Adjustment>) -> Vec<Adjustment> {
    adjustments
        .into_iter()
        .map(|adjustment| Adjustment {
            field: adjustment.field.into(),
            description: adjustment.description.into(),
        })
        .collect()
}
