//! A request, field by field. What is left out is left out here, by name.

use super::{Context, Instruction, write::Writer};
use ring::digest::{SHA256, digest};
use signalbox_types::{
    GenerateRequest, Image, ImageDetail, ImageSource, JsonText, Message, Part, Prompt, Reasoning,
    ReasoningEffort, ResponseFormat, Role, Sampling, Tool, ToolCall, ToolChoice, ToolResult,
};

/// Everything but the instruction's texts, where they stand included.
pub(super) fn write(
    request: &GenerateRequest,
    context: &Context<'_>,
    instruction: Option<&Instruction<'_>>,
    out: &mut Writer,
) {
    let GenerateRequest {
        prompt,
        tenant_id,
        task_type,
        locale,
        required_capabilities,
        // Count as the context's.
        model: _,
        prompt_template: _,
        // Who asks, when, and for what: no part of the answer.
        request_id: _,
        scene: _,
        reference: _,
        // How to serve it: no part of the answer either.
        lane: _,
        timeout: _,
        cache: _,
        fallback: _,
    } = request;
    let Context { requested, prompt_template, policy_version } = context;
    for text in [tenant_id.as_str(), task_type, locale, requested, prompt_template, policy_version] {
        out.text(text);
    }
    out.list(required_capabilities.iter(), |out, capability| out.text(capability.name()));
    self::prompt(prompt, instruction, out);
}

fn prompt(prompt: &Prompt, instruction: Option<&Instruction<'_>>, out: &mut Writer) {
    let Prompt {
        system,
        messages,
        tools,
        tool_choice,
        parallel_tool_calls,
        sampling,
        max_output_tokens,
        stop,
        response_format,
        reasoning_effort,
        include_reasoning,
        // Labels for the vendor's abuse detection and the caller's own books.
        end_user: _,
        metadata: _,
    } = prompt;
    out.text(system);
    out.list(messages.iter().enumerate(), |out, (index, message)| {
        self::message(message, |part| instruction.is_some_and(|held| held.holds(index, part)), out);
    });
    out.list(tools, tool);
    choice(tool_choice, out);
    out.optional(*parallel_tool_calls, Writer::flag);
    self::sampling(sampling, out);
    out.optional(*max_output_tokens, |out, most| out.number(most.into()));
    out.list(stop, |out, text| out.text(text));
    format(response_format, out);
    out.optional(*reasoning_effort, |out, effort| out.byte(effort_number(effort)));
    out.flag(*include_reasoning);
}

fn message(message: &Message, is_instruction: impl Fn(usize) -> bool, out: &mut Writer) {
    let Message { role, parts } = message;
    out.byte(match role {
        Role::User => 0,
        Role::Assistant => 1,
    });
    out.list(parts.iter().enumerate(), |out, (index, part)| {
        if is_instruction(index) {
            out.byte(0);
        } else {
            self::part(part, out);
        }
    });
}

/// A part that is not the instruction; 0 is the place of one that is.
fn part(part: &Part, out: &mut Writer) {
    match part {
        // What a text is for counts only by what it makes the instruction.
        Part::Text { text, purpose: _ } => {
            out.byte(1);
            out.text(text);
        }
        Part::Image(image) => {
            out.byte(2);
            self::image(image, out);
        }
        Part::ToolCall(call) => {
            out.byte(3);
            tool_call(call, out);
        }
        Part::ToolResult(result) => {
            out.byte(4);
            tool_result(result, out);
        }
        Part::Reasoning(reasoning) => {
            out.byte(5);
            self::reasoning(reasoning, out);
        }
    }
}

/// An image by its hash: requests with megabytes of them have short bytes all the same.
fn image(image: &Image, out: &mut Writer) {
    let Image { source, detail } = image;
    match source {
        ImageSource::Inline { media_type, data } => {
            out.byte(0);
            out.text(media_type);
            out.bytes(digest(&SHA256, data).as_ref());
        }
        ImageSource::Url(url) => {
            out.byte(1);
            out.text(url);
        }
    }
    out.byte(match detail {
        ImageDetail::Auto => 0,
        ImageDetail::Low => 1,
        ImageDetail::High => 2,
    });
}

fn tool_call(call: &ToolCall, out: &mut Writer) {
    let ToolCall { id, name, arguments, signature } = call;
    for text in [id, name, arguments] {
        out.text(text);
    }
    out.optional(signature.as_deref(), Writer::text);
}

fn tool_result(result: &ToolResult, out: &mut Writer) {
    let ToolResult { tool_call_id, name, content, is_error } = result;
    for text in [tool_call_id, name, content] {
        out.text(text);
    }
    out.flag(*is_error);
}

fn reasoning(reasoning: &Reasoning, out: &mut Writer) {
    let Reasoning { text, signature, redacted, vendor } = reasoning;
    out.text(text);
    out.optional(signature.as_deref(), Writer::text);
    out.flag(*redacted);
    out.text(vendor);
}

fn tool(out: &mut Writer, tool: &Tool) {
    let Tool { name, description, parameters, strict } = tool;
    out.text(name);
    out.text(description);
    // As it is written: the order of a schema's properties is the order in which models answer.
    out.optional(parameters.as_ref().map(JsonText::as_str), Writer::text);
    out.optional(*strict, Writer::flag);
}

fn choice(choice: &ToolChoice, out: &mut Writer) {
    match choice {
        ToolChoice::Auto => out.byte(0),
        ToolChoice::None => out.byte(1),
        ToolChoice::Required => out.byte(2),
        ToolChoice::Named(name) => {
            out.byte(3);
            out.text(name);
        }
    }
}

fn sampling(sampling: &Sampling, out: &mut Writer) {
    let Sampling { temperature, top_p, top_k, presence_penalty, frequency_penalty, seed } = sampling;
    for float in [temperature, top_p, presence_penalty, frequency_penalty] {
        out.optional(*float, Writer::float);
    }
    out.optional(*top_k, |out, top| out.number(top.into()));
    out.optional(*seed, |out, seed| out.number(seed.cast_unsigned()));
}

fn format(format: &ResponseFormat, out: &mut Writer) {
    match format {
        ResponseFormat::Text => out.byte(0),
        ResponseFormat::JsonObject => out.byte(1),
        ResponseFormat::JsonSchema { name, schema, strict } => {
            out.byte(2);
            out.text(name);
            out.text(schema.as_str());
            out.flag(*strict);
        }
    }
}

/// Written out, so that a new effort in between does not renumber the others.
fn effort_number(effort: ReasoningEffort) -> u8 {
    match effort {
        ReasoningEffort::None => 0,
        ReasoningEffort::Minimal => 1,
        ReasoningEffort::Low => 2,
        ReasoningEffort::Medium => 3,
        ReasoningEffort::High => 4,
        ReasoningEffort::Xhigh => 5,
        ReasoningEffort::Max => 6,
    }
}
