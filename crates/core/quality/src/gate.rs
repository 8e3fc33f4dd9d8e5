//! Whether an answer has the form that was asked for.

use crate::{NoJson, Schemas, extract};
use signalbox_types::{FinishReason, Part, Prompt, Purpose, ResponseFormat, Tool, ToolCall, ToolChoice};
use std::borrow::Cow;

/// What the gate says of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is what was asked for, or nothing was asked of its form.
    Pass,
    /// It is once the JSON is taken out of what stood around it: see [`Verdict::apply`].
    Recovered {
        /// The JSON alone.
        json: String,
    },
    /// It is not.
    Invalid {
        /// Why, lowercase and short; holds no values from the answer.
        message: String,
    },
}

impl Verdict {
    /// Whether the answer can be given to the caller.
    pub fn passed(&self) -> bool {
        !matches!(self, Self::Invalid { .. })
    }

    /// Puts recovered JSON in the place of the text that it was found in.
    pub fn apply(self, parts: &mut Vec<Part>) {
        let Self::Recovered { json } = self else { return };
        let is_text = |part: &Part| matches!(part, Part::Text { .. });
        let at = parts.iter().position(is_text).unwrap_or(parts.len());
        parts.retain(|part| !is_text(part));
        parts.insert(at, Part::Text { text: json, purpose: Purpose::Unspecified });
    }
}

/// Whether a prompt asks for a form, so that its answers tell something of the model, and a stream must be held back
/// until its end to be checked.
pub fn is_gated(prompt: &Prompt) -> bool {
    prompt.response_format != ResponseFormat::Text
        || matches!(prompt.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
        || prompt.tools.iter().any(is_strict)
}

/// Checks an answer against what its prompt asks for. A refusal, a filter's cut and a pause are the answer, whatever
/// was asked for; a length cut is one of free text only.
pub fn check(schemas: &Schemas, prompt: &Prompt, parts: &[Part], finish: FinishReason) -> Verdict {
    let cut = match finish {
        FinishReason::Refusal | FinishReason::ContentFilter | FinishReason::Pause => return Verdict::Pass,
        FinishReason::MalformedToolCall => return invalid("the model made a tool call that cannot be read"),
        FinishReason::Length => Some("the output limit"),
        FinishReason::ContextExceeded => Some("the end of the context window"),
        FinishReason::Stop | FinishReason::StopSequence | FinishReason::ToolCalls | FinishReason::Unknown => {
            None
        }
    };
    let calls = parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    });
    let checked = check_calls(schemas, prompt, calls.clone(), cut.is_some()).and_then(|()| {
        // A turn that calls tools is not the answer yet.
        if calls.count() > 0 { Ok(None) } else { check_text(schemas, &prompt.response_format, parts, cut) }
    });
    match checked {
        Ok(None) => Verdict::Pass,
        Ok(Some(json)) => Verdict::Recovered { json },
        Err(message) => match cut {
            Some(limit) => invalid(format!("the answer was cut at {limit}: {message}")),
            None => invalid(message),
        },
    }
}

fn invalid(message: impl Into<String>) -> Verdict {
    Verdict::Invalid { message: message.into() }
}

fn is_strict(tool: &Tool) -> bool {
    tool.strict == Some(true)
}

fn check_calls<'a>(
    schemas: &Schemas,
    prompt: &Prompt,
    calls: impl Iterator<Item = &'a ToolCall> + Clone,
    cut: bool,
) -> Result<(), String> {
    let declared = |name: &str| prompt.tools.iter().find(|tool| tool.name == name);
    match &prompt.tool_choice {
        ToolChoice::Required if !calls.clone().any(|call| declared(&call.name).is_some()) => {
            return Err("the model called no tool, and the request requires one".into());
        }
        ToolChoice::Named(name) if !calls.clone().any(|call| call.name == *name) => {
            return Err(format!("the model did not call the tool `{name}`, which the request requires"));
        }
        _ => {}
    }
    for call in calls {
        if let Some(tool) = declared(&call.name) {
            check_arguments(schemas, tool, &call.arguments, cut)?;
        }
    }
    Ok(())
}

/// Arguments that are no JSON are of use to nobody; whether they match the schema is asked only of a strict tool.
fn check_arguments(schemas: &Schemas, tool: &Tool, arguments: &str, cut: bool) -> Result<(), String> {
    let name = &tool.name;
    if let Err(problem) = serde_json::from_str::<&serde_json::value::RawValue>(arguments) {
        // A length cut is the caller's to see, unless it asked for the form to be held.
        let tolerated = cut && !is_strict(tool);
        return if tolerated {
            Ok(())
        } else {
            Err(format!("the arguments of `{name}` are not JSON: {problem}"))
        };
    }
    match &tool.parameters {
        Some(schema) if is_strict(tool) => matches(schemas, schema, arguments)
            .map_err(|problem| format!("the arguments of `{name}` do not match its schema: {problem}")),
        _ => Ok(()),
    }
}

/// Gives the JSON where it had to be taken out of the text.
fn check_text(
    schemas: &Schemas,
    format: &ResponseFormat,
    parts: &[Part],
    cut: Option<&str>,
) -> Result<Option<String>, String> {
    if *format == ResponseFormat::Text {
        return Ok(None);
    }
    if cut.is_some() {
        return Err("the JSON is not complete; allow more output tokens".into());
    }
    let text = text_of(parts);
    let found = extract(&text).map_err(|problem: NoJson| problem.to_string())?;
    match format {
        ResponseFormat::JsonSchema { schema, .. } => matches(schemas, schema, found.json)
            .map_err(|problem| format!("the answer does not match the schema: {problem}"))?,
        _ if !found.json.starts_with('{') => return Err("the answer is JSON, but not an object".into()),
        _ => {}
    }
    Ok(found.recovered.then(|| found.json.to_owned()))
}

/// A schema that cannot be compiled was refused before any model was asked; here it would not be the model's fault.
fn matches(schemas: &Schemas, schema: &signalbox_types::JsonText, json: &str) -> Result<(), String> {
    schemas.get(schema).map_or(Ok(()), |validator| validator.check(json))
}

fn text_of(parts: &[Part]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let mut whole = Cow::Borrowed(texts.next().unwrap_or_default());
    texts.for_each(|text| whole += text);
    whole
}

#[cfg(test)]
mod tests;
