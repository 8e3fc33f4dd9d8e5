//! What makes two requests the same, as bytes.
//!
//! The bytes are ours: they depend on no serialiser and no order of a map. Every text and list is preceded by its length
//! and every choice by a byte, so that each field says where it ends and no two requests run into the same bytes.
//!
//! Everything counts that is not left out by name: the request is taken apart field by field, so that a new field does not
//! compile until somebody decides.

mod instruction;
mod request;
#[cfg(test)]
mod tests;
mod write;

pub use instruction::Instruction;

use signalbox_types::GenerateRequest;
use write::Writer;

/// What the bytes begin with: what they are of, and by which rules. Raise the version with any change of what is written.
const DOMAIN: &[u8] = b"signalbox.cache.request";
const VERSION: u8 = 1;

/// What the router knows about a request beyond its words. All of it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Context<'a> {
    /// Model, alias or tier that was asked for; when an answer is stored, what really served. It counts in place of the
    /// request's own `model`, so that an answer of a lower tier is found by those who ask for that tier.
    pub requested: &'a str,
    /// Prompt template with its version, as in `headline@3`; empty for none.
    pub prompt_template: &'a str,
    /// Version of the quality gate, the content rules and the task's defaults in force.
    pub policy_version: &'a str,
}

/// A request as the cache sees it: an instruction, and everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical<'a> {
    rest: Vec<u8>,
    instruction: Option<Instruction<'a>>,
}

impl<'a> Canonical<'a> {
    /// Takes a request apart.
    pub fn of(request: &'a GenerateRequest, context: &Context<'_>) -> Self {
        let instruction = Instruction::of(&request.prompt.messages);
        let mut out = Writer::new();
        out.raw(DOMAIN);
        out.byte(VERSION);
        request::write(request, context, instruction.as_ref(), &mut out);
        Self { rest: out.into_bytes(), instruction }
    }

    /// What to do, where the request tells it from what to do it with.
    pub fn instruction(&self) -> Option<&Instruction<'a>> {
        self.instruction.as_ref()
    }

    /// Everything but the instruction: equal for requests that differ in nothing else.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Everything that counts.
    pub fn whole(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.bytes(&self.rest);
        let texts = self.instruction.iter().flat_map(Instruction::texts);
        out.list(texts, |out, text| out.text(text));
        out.into_bytes()
    }
}
