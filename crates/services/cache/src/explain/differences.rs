//! Where two requests differ besides their instruction.

use super::Checks;
use crate::question::Asked;
use signalbox_caching::{Canonical, Context};
use signalbox_types::{GenerateRequest, Message, Part, Purpose};

/// One check for each thing that must be equal.
pub(super) fn differences(stored: &Asked, asked: &Asked, checks: &mut Checks) {
    let (one, other) = (&stored.request, &asked.request);
    named(checks, "tenant", &one.tenant_id, &other.tenant_id);
    named(checks, "task_type", &one.task_type, &other.task_type);
    named(checks, "locale", &one.locale, &other.locale);
    named(checks, "requested", &stored.context.requested, &asked.context.requested);
    named(checks, "prompt_template", &one.prompt_template, &other.prompt_template);
    let (a, b) = (&one.prompt, &other.prompt);
    same(checks, "system", a.system == b.system);
    same(checks, "content", content(one) == content(other));
    same(
        checks,
        "tools",
        (&a.tools, &a.tool_choice, a.parallel_tool_calls)
            == (&b.tools, &b.tool_choice, b.parallel_tool_calls),
    );
    let limits = |prompt: &signalbox_types::Prompt| {
        (
            prompt.sampling,
            prompt.max_output_tokens,
            prompt.stop.clone(),
            prompt.reasoning_effort,
            prompt.include_reasoning,
        )
    };
    same(checks, "parameters", limits(a) == limits(b));
    same(checks, "response_format", a.response_format == b.response_format);
    same(checks, "required_capabilities", one.required_capabilities == other.required_capabilities);
}

fn named(checks: &mut Checks, name: &str, one: &str, other: &str) {
    let detail = if one == other { format!("both `{one}`") } else { format!("`{one}` and `{other}`") };
    checks.add(name, one == other, detail);
}

fn same(checks: &mut Checks, name: &str, is_same: bool) {
    checks.add(name, is_same, if is_same { "" } else { "differs" });
}

/// The conversation without the texts of its instruction, and without what texts are for.
fn content(request: &GenerateRequest) -> Vec<Message> {
    let canonical = Canonical::of(request, &Context::default());
    let instruction = canonical.instruction();
    let is_said = request
        .prompt
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .any(|part| matches!(part, Part::Text { purpose: Purpose::Instruction | Purpose::Content, .. }));
    let last = request.prompt.messages.len().saturating_sub(1);
    let blank = |index: usize, part: &Part| match part {
        Part::Text { text, purpose } => {
            let is_it =
                instruction.is_some() && index == last && (!is_said || *purpose == Purpose::Instruction);
            Part::text(if is_it { "" } else { text })
        }
        other => other.clone(),
    };
    let messages = request.prompt.messages.iter().enumerate();
    messages
        .map(|(index, message)| Message {
            role: message.role,
            parts: message.parts.iter().map(|part| blank(index, part)).collect(),
        })
        .collect()
}
