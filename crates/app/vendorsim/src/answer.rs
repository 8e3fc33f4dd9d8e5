//! What the simulated model says: the same answer to the same question, whatever the vendor's wire format.

use crate::schema;
use crate::tokens;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A question, freed from its wire format.
#[derive(Debug, Default)]
pub(crate) struct Ask<'a> {
    /// The model asked.
    pub(crate) model: &'a str,
    /// Text of the last user turn.
    pub(crate) said: String,
    /// Tool results that came after the last words of the model.
    pub(crate) results: Vec<String>,
    /// Size of every image in bytes, where it came along.
    pub(crate) images: Vec<Option<usize>>,
    /// Tools on offer.
    pub(crate) tools: Vec<Tool<'a>>,
    /// What was said about using them.
    pub(crate) choice: Choice<'a>,
    /// Whether only one tool may be called.
    pub(crate) one_call: bool,
    /// Shape of the answer.
    pub(crate) format: Format<'a>,
    /// Cap on output.
    pub(crate) max_tokens: Option<u64>,
    /// Where to stop.
    pub(crate) stop: Vec<&'a str>,
    /// Tokens of reasoning to do.
    pub(crate) reasoning: u64,
    /// Whether the cap leaves reasoning out (xAI).
    pub(crate) reasoning_beside_cap: bool,
    /// Whether words come before tool calls.
    pub(crate) preamble: bool,
    /// Tokens of the prompt.
    pub(crate) prompt_tokens: u64,
}

/// A tool on offer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: Option<&'a Value>,
}

/// Whether tools may or must be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    #[default]
    Auto,
    None,
    Required,
    Named(&'a str),
}

/// Shape of the answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Format<'a> {
    #[default]
    Text,
    Json,
    Schema(&'a Value),
}

/// What the model says.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Finish,
    pub(crate) usage: Usage,
}

/// One tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) arguments_text: String,
}

/// Why the answer ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Finish {
    #[default]
    Stop,
    Sequence(String),
    Length,
    Tools,
}

/// Tokens, in disjoint output counts; each vendor sums them its own way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The whole prompt.
    pub(crate) prompt: u64,
    /// Part of the prompt read from the vendor's cache.
    pub(crate) cached: u64,
    /// Part of the prompt written to the vendor's cache, for those who bill it.
    pub(crate) written: u64,
    /// Text and tool calls.
    pub(crate) visible: u64,
    /// Reasoning.
    pub(crate) reasoning: u64,
}

/// Prompts from this length on are half cached, so that every accounting shape is seen.
const CACHED_FROM: u64 = 1024;
/// Vendors cache in steps.
const CACHE_STEP: u64 = 128;
/// Most bytes of the user's words that are repeated.
const ECHO: usize = 200;
/// Most bytes of tool results that are repeated.
const ECHO_RESULTS: usize = 400;
/// One token of filler for so many tokens of cap, up to a limit: a bigger cap gets a longer answer.
const FILLER_SHARE: u64 = 16;
const FILLER_LIMIT: u64 = 256;

/// Answers.
pub(crate) fn answer(ask: &Ask<'_>) -> Answer {
    let cap = ask.max_tokens.unwrap_or(u64::MAX);
    let reasoning = if ask.reasoning_beside_cap { ask.reasoning } else { ask.reasoning.min(cap) };
    let room = if ask.reasoning_beside_cap { cap } else { cap - reasoning };
    let calls = calls(ask);
    let mut answer = if calls.is_empty() { spoken(ask, room) } else { called(ask, calls, room) };
    answer.reasoning = filler("Thinking about the request, one step after the other. ", reasoning);
    answer.usage.reasoning = reasoning;
    answer.usage.prompt = ask.prompt_tokens;
    if ask.prompt_tokens >= CACHED_FROM {
        answer.usage.cached = (ask.prompt_tokens / 2).next_multiple_of(CACHE_STEP) - CACHE_STEP;
        answer.usage.written = (ask.prompt_tokens / 4).next_multiple_of(CACHE_STEP) - CACHE_STEP;
    }
    answer
}

fn calls(ask: &Ask<'_>) -> Vec<Call> {
    if !ask.results.is_empty() {
        return Vec::new();
    }
    let mut mentioned: Vec<(usize, Tool<'_>)> = Vec::new();
    for tool in &ask.tools {
        mentioned.extend(ask.said.match_indices(tool.name).map(|(at, _)| (at, *tool)));
    }
    mentioned.sort_by_key(|(at, _)| *at);
    let mut wanted: Vec<Tool<'_>> = mentioned.into_iter().map(|(_, tool)| tool).collect();
    match ask.choice {
        Choice::None => wanted.clear(),
        Choice::Auto => {}
        Choice::Required if wanted.is_empty() => wanted.extend(ask.tools.first()),
        Choice::Required => {}
        Choice::Named(name) => wanted = ask.tools.iter().copied().filter(|tool| tool.name == name).collect(),
    }
    wanted.truncate(if ask.one_call { 1 } else { usize::MAX });
    wanted.into_iter().enumerate().map(|(n, tool)| call(tool, n)).collect()
}

fn call(tool: Tool<'_>, n: usize) -> Call {
    let arguments = match tool.schema.map(|schema| schema::instance(schema, n)) {
        Some(arguments @ Value::Object(_)) => arguments,
        _ => json!({}),
    };
    Call { name: tool.name.to_owned(), arguments_text: arguments.to_string(), arguments }
}

/// Tool calls are made whole or not at all: where the cap is too small, the turn ends for length.
fn called(ask: &Ask<'_>, calls: Vec<Call>, room: u64) -> Answer {
    let text = if ask.preamble { "Checking. ".to_owned() } else { String::new() };
    let cost = tokens::count(&text)
        + calls
            .iter()
            .map(|call| tokens::count(&call.name) + tokens::count(&call.arguments_text))
            .sum::<u64>();
    if cost > room {
        let usage = Usage { visible: room, ..Usage::default() };
        return Answer { finish: Finish::Length, usage, ..Answer::default() };
    }
    Answer {
        text,
        calls,
        finish: Finish::Tools,
        usage: Usage { visible: cost, ..Usage::default() },
        ..Answer::default()
    }
}

fn spoken(ask: &Ask<'_>, room: u64) -> Answer {
    let mut text = match ask.format {
        Format::Text => prose(ask),
        Format::Json => {
            json!({"simulated": true, "model": ask.model, "echo": excerpt(&ask.said, ECHO)}).to_string()
        }
        Format::Schema(schema) => schema::instance(schema, 0).to_string(),
    };
    let mut finish = Finish::Stop;
    let stops = ask.stop.iter().filter(|stop| !stop.is_empty());
    if let Some((at, stop)) = stops.filter_map(|stop| text.find(stop).map(|at| (at, *stop))).min() {
        text.truncate(at);
        finish = Finish::Sequence(stop.to_owned());
    }
    let mut visible = tokens::count(&text);
    if visible > room {
        text.truncate(tokens::prefix(&text, room).len());
        (visible, finish) = (room, Finish::Length);
    }
    Answer { text, finish, usage: Usage { visible, ..Usage::default() }, ..Answer::default() }
}

fn prose(ask: &Ask<'_>) -> String {
    let mut text = format!("Simulated answer of {}: you said \"{}\".", ask.model, excerpt(&ask.said, ECHO));
    if !ask.images.is_empty() {
        describe_images(&mut text, &ask.images);
    }
    if !ask.results.is_empty() {
        let results = ask.results.join(" | ");
        // Writing to a string does not fail.
        let _ = write!(text, " The tools returned: {}.", excerpt(&results, ECHO_RESULTS));
    }
    let more = (ask.max_tokens.unwrap_or(0) / FILLER_SHARE).min(FILLER_LIMIT);
    text.push_str(&filler(" This sentence stands in for a longer answer.", more));
    text
}

fn describe_images(text: &mut String, images: &[Option<usize>]) {
    let sizes: Vec<String> = images
        .iter()
        .map(|size| size.map_or_else(|| "by link".to_owned(), |size| format!("{size} bytes")))
        .collect();
    let plural = if images.len() == 1 { "image" } else { "images" };
    let _ = write!(text, " I see {} {plural} ({}).", images.len(), sizes.join(", "));
}

/// The start of `text`, at most `bytes` long.
fn excerpt(text: &str, bytes: usize) -> String {
    let text = text.trim();
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}

fn filler(sentence: &str, count: u64) -> String {
    let bytes = usize::try_from(count * 4).unwrap_or(0);
    sentence.chars().cycle().take(bytes).collect()
}

/// Tokens of reasoning for an effort by name; `None` for a name nobody uses.
pub(crate) fn effort(name: &str) -> Option<u64> {
    Some(match name {
        "none" => 0,
        "minimal" => 4,
        "low" => 8,
        "medium" => 16,
        "high" => 32,
        "xhigh" => 48,
        "max" => 64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
