//! Requests.

mod messages;
mod options;

use super::{
    enums,
    time::{duration_from_proto, duration_to_proto},
    validate::{Violations, known_enum},
};
use crate::v1;
use signalbox_types::{Capabilities, EmbedRequest, Failure, GenerateRequest, ModelSelector, Prompt};
use std::time::Duration;

/// Most texts in one embedding request (the lowest limit among the vendors is OpenAI's 2048).
const MOST_EMBED_INPUTS: usize = 2048;
/// Most capabilities that a request may name.
const MOST_CAPABILITIES: usize = 32;
/// Most bytes in a model's name.
const LONGEST_MODEL: usize = 256;
/// Longest time a caller may ask for.
const LONGEST_TIMEOUT: Duration = Duration::from_hours(24);

/// A request from the wire. The failure lists every field at fault.
pub fn generate_request_from_proto(wire: v1::GenerateRequest) -> Result<GenerateRequest, Failure> {
    let mut violations = Violations::default();
    let request = read(wire, &mut violations);
    violations.into_result()?;
    Ok(request)
}

fn read(wire: v1::GenerateRequest, violations: &mut Violations) -> GenerateRequest {
    check_labels(&wire, violations);
    let tools = options::tools(wire.tools, violations);
    let tool_choice = options::tool_choice(wire.tool_choice, &tools, violations);
    let prompt = Prompt {
        system: wire.system,
        messages: messages::read(wire.messages, violations),
        tool_choice,
        tools,
        parallel_tool_calls: wire.parallel_tool_calls,
        sampling: options::sampling(wire.sampling, violations),
        max_output_tokens: options::positive(wire.max_output_tokens, "max_output_tokens", violations),
        stop: options::stop(wire.stop, violations),
        response_format: options::response_format(wire.response_format, violations),
        reasoning_effort: enums::effort_from_proto(known_enum(
            wire.reasoning_effort,
            "reasoning_effort",
            violations,
        )),
        include_reasoning: wire.include_reasoning,
        end_user: wire.end_user,
        metadata: options::metadata(wire.metadata, violations),
    };
    GenerateRequest {
        request_id: wire.request_id,
        prompt,
        model: selector(&wire.model, violations),
        tenant_id: wire.tenant_id,
        task_type: wire.task_type,
        scene: wire.scene,
        locale: wire.locale,
        reference: wire.reference,
        prompt_template: wire.prompt_template,
        required_capabilities: capabilities(&wire.required_capabilities, violations),
        lane: enums::lane_from_proto(known_enum(wire.lane, "lane", violations)),
        timeout: timeout(wire.timeout, violations),
        cache: enums::cache_from_proto(known_enum(wire.cache_mode, "cache_mode", violations)),
        fallback: enums::fallback_from_proto(known_enum(wire.fallback_mode, "fallback_mode", violations)),
    }
}

/// Labels that end up in accounts, logs and keys: bounded, and without control characters.
fn check_labels(wire: &v1::GenerateRequest, violations: &mut Violations) {
    let labels = [
        ("task_type", &wire.task_type, 64),
        ("tenant_id", &wire.tenant_id, 128),
        ("scene", &wire.scene, 128),
        ("locale", &wire.locale, 35),
        ("reference", &wire.reference, 512),
        ("prompt_template", &wire.prompt_template, 128),
        ("request_id", &wire.request_id, 128),
        ("end_user", &wire.end_user, 128),
    ];
    for (field, value, most) in labels {
        check_label(field, value, most, violations);
    }
    let locale_ok = wire.locale.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    violations.check(locale_ok, || "locale", || "must be a BCP 47 tag, as in it-IT");
}

fn check_label(field: &str, value: &str, most: usize, violations: &mut Violations) {
    violations.at_most(value.len(), most, "bytes", || field);
    violations.check(!value.chars().any(char::is_control), || field, || "has a control character");
}

fn selector(text: &str, violations: &mut Violations) -> ModelSelector {
    check_label("model", text, LONGEST_MODEL, violations);
    text.parse().unwrap_or_else(|problem: String| {
        violations.add("model", problem);
        ModelSelector::Unspecified
    })
}

fn capabilities(values: &[i32], violations: &mut Violations) -> Capabilities {
    violations.at_most(values.len(), MOST_CAPABILITIES, "capabilities", || "required_capabilities");
    let mut found = Capabilities::NONE;
    for (index, value) in values.iter().enumerate() {
        match enums::capability_from_proto(*value) {
            Some(capability) => found = found.with(capability),
            None => violations.add(
                format!("required_capabilities[{index}]"),
                format!("{value} is not a capability this version knows"),
            ),
        }
    }
    found
}

fn timeout(timeout: Option<prost_types::Duration>, violations: &mut Violations) -> Option<Duration> {
    let wire = timeout?;
    let duration =
        duration_from_proto(wire).filter(|duration| !duration.is_zero() && *duration <= LONGEST_TIMEOUT);
    violations.check(duration.is_some(), || "timeout", || "must be above 0 and at most 24 hours");
    duration
}

/// An embedding request from the wire.
pub fn embed_request_from_proto(wire: v1::EmbedRequest) -> Result<EmbedRequest, Failure> {
    check_embed_request(&wire)?;
    Ok(EmbedRequest {
        inputs: wire.inputs,
        dimensions: wire.dimensions.and_then(|length| u32::try_from(length).ok()),
    })
}

/// Checks an embedding request without taking its texts; gives the model it names.
pub fn check_embed_request(wire: &v1::EmbedRequest) -> Result<ModelSelector, Failure> {
    let mut violations = Violations::default();
    let count = wire.inputs.len();
    violations.check(
        (1..=MOST_EMBED_INPUTS).contains(&count),
        || "inputs",
        || format!("has {count} texts, 1 to {MOST_EMBED_INPUTS} are allowed"),
    );
    for (index, input) in wire.inputs.iter().enumerate() {
        violations.check(!input.is_empty(), || format!("inputs[{index}]"), || "is empty");
    }
    let labels = [
        ("tenant_id", &wire.tenant_id, 128),
        ("scene", &wire.scene, 128),
        ("reference", &wire.reference, 512),
        ("request_id", &wire.request_id, 128),
    ];
    for (field, value, most) in labels {
        check_label(field, value, most, &mut violations);
    }
    timeout(wire.timeout, &mut violations);
    options::positive(wire.dimensions, "dimensions", &mut violations);
    let model = selector(&wire.model, &mut violations);
    violations.into_result()?;
    Ok(model)
}

/// A request on the wire, for the next hop.
pub fn generate_request_to_proto(request: GenerateRequest) -> v1::GenerateRequest {
    let prompt = request.prompt;
    v1::GenerateRequest {
        messages: messages::write(prompt.messages),
        system: prompt.system,
        tools: options::tools_to_proto(prompt.tools),
        tool_choice: options::tool_choice_to_proto(prompt.tool_choice),
        parallel_tool_calls: prompt.parallel_tool_calls,
        sampling: options::sampling_to_proto(&prompt.sampling),
        max_output_tokens: prompt.max_output_tokens.map(|most| i32::try_from(most).unwrap_or(i32::MAX)),
        stop: prompt.stop,
        response_format: options::response_format_to_proto(prompt.response_format),
        reasoning_effort: enums::effort_to_proto(prompt.reasoning_effort) as i32,
        include_reasoning: prompt.include_reasoning,
        metadata: prompt.metadata.into_iter().collect(),
        end_user: prompt.end_user,
        model: request.model.to_string(),
        task_type: request.task_type,
        tenant_id: request.tenant_id,
        scene: request.scene,
        locale: request.locale,
        reference: request.reference,
        prompt_template: request.prompt_template,
        required_capabilities: request
            .required_capabilities
            .iter()
            .map(|capability| enums::capability_to_proto(capability) as i32)
            .collect(),
        lane: enums::lane_to_proto(request.lane) as i32,
        timeout: request.timeout.map(duration_to_proto),
        cache_mode: enums::cache_to_proto(request.cache) as i32,
        fallback_mode: enums::fallback_to_proto(request.fallback) as i32,
        request_id: request.request_id,
    }
}

#[cfg(test)]
mod tests;
