//! What the answers of both surfaces are made of.

use crate::json;
use serde::{Deserialize, Deserializer, de};
use signalbox_types::{Failure, TokenUsage, UsageSource};
use std::{borrow::Cow, fmt};

/// A short text, borrowed where it can be. Servers that should send one also send null or a number.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word<'a>(Cow<'a, str>);

impl Word<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Remembers the first of many equal words.
    pub(super) fn keep_in(&self, place: &mut String) {
        if place.is_empty() {
            place.push_str(&self.0);
        }
    }
}

impl<'a> From<&'a str> for Word<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> de::Visitor<'de> for WordVisitor {
    type Value = Word<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Word(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Word(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Word(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Word(Cow::Owned(number.to_string())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Word::default())
    }
}

/// Which surface an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surface {
    Chat,
    Responses,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, default)]
    object: Word<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Word<'a>,
}

impl Surface {
    /// Of a whole answer.
    pub(super) fn of_answer(vendor: &str, body: &[u8]) -> Result<Self, Failure> {
        let kind: Kind<'_> = json::read(vendor, body)?;
        Ok(if kind.object.as_str() == "response" { Self::Responses } else { Self::Chat })
    }

    /// Of a stream, by the data of its first event. What cannot be read is left to the chat reader to complain of.
    pub(super) fn of_event(data: &str) -> Self {
        match serde_json::from_str::<Kind<'_>>(data) {
            Ok(kind) if kind.kind.as_str().starts_with("response.") => Self::Responses,
            _ => Self::Chat,
        }
    }
}

/// Token counts of either surface.
#[derive(Debug, Deserialize)]
pub(super) struct Usage {
    #[serde(alias = "input_tokens")]
    prompt_tokens: Option<u64>,
    #[serde(alias = "output_tokens")]
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    #[serde(alias = "input_tokens_details")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(alias = "output_tokens_details")]
    completion_tokens_details: Option<CompletionDetails>,
    /// xAI.
    cost_in_usd_ticks: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl From<Usage> for TokenUsage {
    /// Cached tokens are within the prompt's. Reasoning tokens are within the completion's at OpenAI and beside them
    /// at xAI, whose other surfaces fold them in too: the total tells.
    fn from(usage: Usage) -> Self {
        let counted = usage.prompt_tokens.is_some() || usage.completion_tokens.is_some();
        let prompt = usage.prompt_tokens.unwrap_or_default();
        let completion = usage.completion_tokens.unwrap_or_default();
        let details = usage.prompt_tokens_details.unwrap_or_default();
        let cache_read = details.cached_tokens.unwrap_or_default();
        let cache_write = details.cache_write_tokens.unwrap_or_default();
        let reasoning =
            usage.completion_tokens_details.unwrap_or_default().reasoning_tokens.unwrap_or_default();
        let beside = usage.total_tokens == Some(prompt.saturating_add(completion).saturating_add(reasoning));
        Self {
            input: prompt.saturating_sub(cache_read).saturating_sub(cache_write),
            cache_read,
            cache_write,
            cache_write_1h: 0,
            output: if beside { completion } else { completion.saturating_sub(reasoning) },
            reasoning,
            source: if counted { UsageSource::Vendor } else { UsageSource::Unknown },
            vendor_cost_usd_ticks: usage.cost_in_usd_ticks,
        }
    }
}
