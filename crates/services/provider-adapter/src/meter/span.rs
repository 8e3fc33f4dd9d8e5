//! A vendor call as a span, by OpenTelemetry's conventions for generative AI.

use crate::call::Call;
use opentelemetry::{Array, Value, trace::SpanKind};
use signalbox_api::convert;
use signalbox_kit::{catalog::Catalog, telemetry::trace::Span};
use signalbox_ports::CallOutcome;
use signalbox_types::{ErrorReason, FinishReason, TokenUsage, VendorKind};

/// A span of what is asked for.
pub(super) fn start(catalog: &Catalog, call: &Call, parent: &Span) -> Span {
    let span = parent.child(format!("{} {}", call.operation, call.model.model), SpanKind::Client);
    if !span.is_recording() {
        return span;
    }
    span.set("gen_ai.operation.name", call.operation);
    span.set("gen_ai.provider.name", provider_name(catalog, &call.model.vendor));
    span.set("gen_ai.request.model", call.model.model.to_string());
    if let Some(most) = call.request.prompt.max_output_tokens {
        span.set("gen_ai.request.max_tokens", i64::from(most));
    }
    if let Some(temperature) = call.request.prompt.sampling.temperature {
        span.set("gen_ai.request.temperature", temperature);
    }
    if let Some(injected) = &call.injected {
        span.set("signalbox.drill.fault", injected.fault.to_string());
    }
    span
}

/// The answer is whole.
pub(super) fn finished(span: &Span, finish_reason: FinishReason) {
    if !span.is_recording() {
        return;
    }
    let words = convert::finish_reason_to_proto(finish_reason).as_str_name();
    let word = words.trim_start_matches("FINISH_REASON_").to_lowercase();
    span.set("gen_ai.response.finish_reasons", Value::Array(Array::String(vec![word.into()])));
}

/// The call is over.
pub(super) fn end(span: &Span, outcome: CallOutcome, usage: &TokenUsage) {
    if !span.is_recording() {
        return;
    }
    let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    span.set("gen_ai.usage.input_tokens", count(usage.prompt_tokens()));
    span.set("gen_ai.usage.output_tokens", count(usage.answer_tokens()));
    let failed = match outcome {
        CallOutcome::Answered => None,
        CallOutcome::Failed(reason) => Some(reason.name()),
        CallOutcome::Cancelled => Some(ErrorReason::Cancelled.name()),
    };
    if let Some(reason) = failed {
        span.set("error.type", reason);
        span.fail(reason);
    }
    span.end();
}

/// `gen_ai.provider.name`: as the conventions have it, else as the catalogue does.
fn provider_name(catalog: &Catalog, vendor: &str) -> String {
    let kind = catalog.vendor(vendor).map(|config| config.kind);
    kind.and_then(VendorKind::otel_name).unwrap_or(vendor).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_kit::{
        FixedClock,
        config::{ConfigHandle, Environment},
    };
    use std::{sync::Arc, time::SystemTime};

    #[test]
    fn traces_name_vendors_as_the_conventions_do_and_others_as_they_were_named() {
        let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH));
        let config = ConfigHandle::start(None, Environment::new([("GEMINI_API_KEY", "key")]), clock).unwrap();
        let name = |vendor: &str| provider_name(&config.catalog(), vendor);
        assert_eq!(name("openai"), "openai");
        assert_eq!(name("gemini"), "gcp.gemini");
        assert_eq!(name("xai"), "x_ai");
        assert_eq!(name("ollama"), "ollama");
        assert_eq!(name("not-listed"), "not-listed");
    }
}
