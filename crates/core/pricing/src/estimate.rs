//! Token estimates, for reservations and context checks before a vendor has counted.

use signalbox_types::{JsonText, Message, Part, Prompt, ResponseFormat, Tool};

/// Estimates are sums of sixteenths of a token.
pub(crate) const SIXTEENTHS: u64 = 16;
/// Role markers and separators around a turn.
const TOKENS_PER_MESSAGE: u64 = 4;
/// Names, types and separators around a tool, a call or a result.
const TOKENS_PER_TOOL: u64 = 16;
/// The instructions about tools that vendors add by themselves once there is a tool (Anthropic: about 350).
const TOKENS_FOR_TOOL_USE: u64 = 350;
/// An image at full detail: Anthropic bills up to about 1600, OpenAI, xAI and Gemini mostly less. Detail `low` is
/// not every vendor's switch, so it does not count as less.
const TOKENS_PER_IMAGE: u64 = 1_600;

/// About how many tokens a text is, rather too many than too few.
///
/// By script, because vendors' tokenisers cut that way: a word in Latin letters is a token for every three letters
/// or so, Cyrillic, Greek, Arabic and accented letters go two to a token, Chinese, Japanese and Korean characters
/// one to one, emoji two each. The real count of prose is usually 10 to 30 % lower.
pub fn estimate_tokens(text: &str) -> u64 {
    weigh(text).div_ceil(SIXTEENTHS)
}

/// The same in sixteenths, of which pieces of a text can be summed.
pub(crate) fn weigh(text: &str) -> u64 {
    text.chars().map(sixteenths).fold(0, u64::saturating_add)
}

/// About how many tokens texts to be embedded are.
pub fn estimate_input_tokens(inputs: &[String]) -> u64 {
    inputs.iter().map(|input| estimate_tokens(input)).fold(0, u64::saturating_add)
}

/// About how many tokens a whole answer is.
pub fn estimate_answer_tokens(parts: &[Part]) -> u64 {
    let tokens = |part: &Part| match part {
        Part::Text { text, .. } => estimate_tokens(text),
        Part::ToolCall(call) => estimate_tokens(&call.arguments),
        Part::Reasoning(reasoning) => estimate_tokens(&reasoning.text),
        Part::Image(_) | Part::ToolResult(_) => 0,
    };
    parts.iter().map(tokens).fold(0, u64::saturating_add)
}

/// Weight of one character.
fn sixteenths(character: char) -> u64 {
    match character {
        'a'..='z' | 'A'..='Z' => 5,
        ' ' | '\t' | '\r' => 1,
        '\n' => 4,
        '0'..='9' => 8,
        '\0'..='\u{7f}' => 10,
        // Accented Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic.
        '\u{80}'..='\u{7ff}' => 8,
        // Devanagari, Thai, Georgian and the like; CJK, kana, Hangul; punctuation.
        '\u{800}'..='\u{ffff}' => 16,
        // Emoji, rare ideographs.
        _ => 32,
    }
}

/// About how many tokens a whole prompt is: texts, images, tools, schema, and what vendors add around them.
pub fn estimate_prompt_tokens(prompt: &Prompt) -> u64 {
    let system = estimate_tokens(&prompt.system);
    let messages: u64 = prompt.messages.iter().map(message_tokens).sum();
    let tools: u64 = prompt.tools.iter().map(tool_tokens).sum();
    let tool_use = if prompt.tools.is_empty() { 0 } else { TOKENS_FOR_TOOL_USE };
    system + messages + tools + tool_use + format_tokens(&prompt.response_format) + TOKENS_PER_MESSAGE
}

fn message_tokens(message: &Message) -> u64 {
    TOKENS_PER_MESSAGE + message.parts.iter().map(part_tokens).sum::<u64>()
}

fn part_tokens(part: &Part) -> u64 {
    match part {
        Part::Text { text, .. } => estimate_tokens(text),
        Part::Image(_) => TOKENS_PER_IMAGE,
        Part::ToolCall(call) => {
            TOKENS_PER_TOOL + estimate_tokens(&call.name) + estimate_tokens(&call.arguments)
        }
        Part::ToolResult(result) => TOKENS_PER_TOOL + estimate_tokens(&result.content),
        // Encrypted reasoning is about as long as what it hides, and is billed as that.
        Part::Reasoning(reasoning) => {
            let hidden = reasoning.signature.as_deref().map_or(0, estimate_tokens);
            hidden.max(estimate_tokens(&reasoning.text))
        }
    }
}

fn tool_tokens(tool: &Tool) -> u64 {
    let parameters = tool.parameters.as_ref().map_or(0, schema_tokens);
    TOKENS_PER_TOOL + estimate_tokens(&tool.name) + estimate_tokens(&tool.description) + parameters
}

fn format_tokens(format: &ResponseFormat) -> u64 {
    match format {
        ResponseFormat::Text => 0,
        ResponseFormat::JsonObject => TOKENS_PER_TOOL,
        ResponseFormat::JsonSchema { schema, .. } => TOKENS_PER_TOOL + schema_tokens(schema),
    }
}

fn schema_tokens(schema: &JsonText) -> u64 {
    estimate_tokens(schema.as_str())
}
