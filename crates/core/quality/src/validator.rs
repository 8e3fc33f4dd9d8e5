//! A compiled JSON Schema.

use crate::rules::Rules;
use jsonschema::PatternOptions;
use serde_json::Value;
use signalbox_types::JsonText;
use std::fmt::{self, Write};

/// Most bytes of a message about an instance.
const LONGEST_MESSAGE: usize = 600;
/// Most bytes of one problem in it.
const LONGEST_PROBLEM: usize = 160;
/// Most bytes of its place.
const LONGEST_PLACE: usize = 80;
/// Most problems in it.
const MOST_PROBLEMS: usize = 3;
/// Most steps back in one match of a pattern that needs them (look-around, back-references): about 2 ms. Beyond, it
/// does not match.
const MOST_BACKTRACKS: usize = 100_000;
/// Most steps to spend on saying what is wrong. Unlike deciding whether anything is, that visits every way through
/// `anyOf` again and again.
const MOST_STEPS: u64 = 100_000;
/// What a compiled pattern is taken to weigh: more than most, less than the 10 MiB that one may.
const PATTERN_BYTES: usize = 256 << 10;
/// Deepest instance explained: explaining needs more stack than deciding.
const DEEPEST: usize = 32;

/// A compiled JSON Schema, draft 2020-12 unless it names another. Nothing outside of it is ever fetched.
#[derive(Debug)]
pub struct Validator {
    schema: jsonschema::Validator,
    rules: Rules,
}

impl Validator {
    /// Compiles a schema. The error says where it is none, or why it cannot be enforced, for the caller to read.
    pub fn compile(schema: &JsonText) -> Result<Self, String> {
        let schema = schema.to_value().map_err(|problem| problem.to_string())?;
        // First: what follows walks the references that this bounds.
        let rules = Rules::of(&schema)?;
        let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKS);
        let compiled = jsonschema::options().offline().with_pattern_options(patterns).build(&schema);
        let schema =
            compiled.map_err(|error| located(error.instance_path().as_str(), &error, LONGEST_MESSAGE))?;
        Ok(Self { schema, rules })
    }

    /// Checks a JSON text. The error names the first few places at fault; it quotes property names, but no values.
    pub fn check(&self, json: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(json).map_err(|error| format!("cannot be read: {error}"))?;
        if self.schema.is_valid(&value) { Ok(()) } else { Err(self.explain(&value)) }
    }

    /// About the memory that its patterns may take.
    pub(crate) fn pattern_bytes(&self) -> usize {
        self.rules.patterns().saturating_mul(PATTERN_BYTES)
    }

    fn explain(&self, value: &Value) -> String {
        let (places, depth) = extent(value);
        let at_a_place = self.rules.most_at_a_place(depth, MOST_STEPS);
        if depth > DEEPEST || at_a_place.saturating_mul(places) > MOST_STEPS {
            return "does not match the schema; it is too large or too deep to say where".into();
        }
        let mut message = String::new();
        let errors = self.schema.iter_errors(value).into_errors();
        for (index, error) in errors.iter().take(MOST_PROBLEMS).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            message += separator;
            message += &located(error.instance_path().as_str(), &error.masked(), LONGEST_PROBLEM);
        }
        if errors.len() > MOST_PROBLEMS {
            message += &format!("; and {} more", errors.len() - MOST_PROBLEMS);
        }
        message
    }
}

/// Places in a value, itself included, and levels below it.
fn extent(value: &Value) -> (u64, usize) {
    let (mut places, mut depth) = (0, 0);
    let mut level = vec![value];
    loop {
        places += level.len() as u64;
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(items) => next.extend(items),
                Value::Object(entries) => next.extend(entries.values()),
                _ => {}
            }
        }
        if next.is_empty() {
            return (places, depth);
        }
        depth += 1;
        level = next;
    }
}

/// A problem after its place, each cut to a length: a place by its head, for what tells is at its end.
fn located(place: &str, problem: &impl fmt::Display, longest: usize) -> String {
    let shown = place.ceil_char_boundary(place.len().saturating_sub(LONGEST_PLACE));
    let mut text = Bounded { text: String::new(), left: longest };
    let written = match &place[shown..] {
        "" => write!(text, "{problem}"),
        all if shown == 0 => write!(text, "at {all}: {problem}"),
        end => write!(text, "at …{end}: {problem}"),
    };
    if written.is_err() {
        text.text.push('…');
    }
    text.text
}

/// Takes so many bytes and no more: what is not shown is not even formatted.
struct Bounded {
    text: String,
    left: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let fits = more.floor_char_boundary(self.left);
        self.text.push_str(&more[..fits]);
        self.left -= fits;
        if fits == more.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests;
