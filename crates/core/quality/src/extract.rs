//! Finding the JSON in what a model wrote.
//!
//! Models put JSON in fences, announce it and comment on it. It is taken out of that as it stands: never repaired,
//! never pieced together, and never chosen among several.

use serde_json::value::RawValue;

const BYTE_ORDER_MARK: char = '\u{feff}';
const FENCE: &str = "```";

/// JSON found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extracted<'a> {
    /// Exactly one JSON value, without space around it.
    pub json: &'a str,
    /// Whether anything but space stood around it, so that the text itself is not JSON.
    pub recovered: bool,
}

/// Why no JSON was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoJson {
    /// There is no text.
    #[error("the answer is empty")]
    Empty,
    /// The text looks like JSON and is not; the parser's words say where.
    #[error("the answer is not valid JSON: {0}")]
    Invalid(String),
    /// Nothing in the text is JSON.
    #[error("there is no JSON in the answer")]
    Absent,
    /// It holds several values, and which is meant would be a guess.
    #[error("there is more than one JSON value in the answer")]
    Several,
}

/// Finds the one JSON value in a text: the whole of it, else the only fenced block that is JSON, else the only object
/// in the prose, else the only array. Time grows with the length of the text, whatever is in it.
pub fn extract(text: &str) -> Result<Extracted<'_>, NoJson> {
    let bare = text.trim_matches([' ', '\t', '\r', '\n']);
    let Err(problem) = parse(bare) else { return Ok(Extracted { json: bare, recovered: false }) };
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == BYTE_ORDER_MARK);
    let json = recover(text).map_err(|missing| match missing {
        NoJson::Absent if text.starts_with(['{', '[']) => NoJson::Invalid(problem.to_string()),
        other => other,
    })?;
    Ok(Extracted { json, recovered: true })
}

fn recover(text: &str) -> Result<&str, NoJson> {
    if text.is_empty() {
        return Err(NoJson::Empty);
    }
    if is_json(text) {
        return Ok(text);
    }
    match fenced(text).one()? {
        Some(json) => Ok(json),
        None => in_prose(text),
    }
}

/// Fences stand at the start of a line, where no string inside JSON can put them: it has no raw line breaks.
fn fenced(text: &str) -> Found<'_> {
    let mut found = Found::Nothing;
    let mut content_start = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let mark = line.trim();
        match content_start {
            None if mark.starts_with(FENCE) => content_start = Some(offset + line.len()),
            Some(start) if mark == FENCE => {
                content_start = None;
                found.offer(text[start..offset].trim());
            }
            _ => {}
        }
        offset += line.len();
    }
    found
}

/// A bracketed stretch counts as a whole or not at all: what is inside of broken or unfinished JSON is not what the
/// model meant to answer.
fn in_prose(text: &str) -> Result<&str, NoJson> {
    let (mut objects, mut arrays) = (Found::Nothing, Found::Nothing);
    let mut brackets = Brackets::default();
    for (at, byte) in text.bytes().enumerate() {
        let Some(start) = brackets.closed_by(at, byte) else { continue };
        let stretch = &text[start..=at];
        if stretch.starts_with('{') { objects.offer(stretch) } else { arrays.offer(stretch) }
    }
    if brackets.depth > 0 {
        return Err(NoJson::Absent);
    }
    match objects.one()? {
        Some(json) => Ok(json),
        None => arrays.one()?.ok_or(NoJson::Absent),
    }
}

fn parse(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<&RawValue>(text).map(drop)
}

fn is_json(text: &str) -> bool {
    parse(text).is_ok()
}

/// What a search has come upon so far.
enum Found<'a> {
    Nothing,
    One(&'a str),
    Several,
}

impl<'a> Found<'a> {
    /// Counts a text that is JSON. Once there are two, nothing more needs parsing.
    fn offer(&mut self, text: &'a str) {
        if matches!(self, Self::Several) || !is_json(text) {
            return;
        }
        *self = if matches!(self, Self::Nothing) { Self::One(text) } else { Self::Several };
    }

    fn one(self) -> Result<Option<&'a str>, NoJson> {
        match self {
            Self::Nothing => Ok(None),
            Self::One(text) => Ok(Some(text)),
            Self::Several => Err(NoJson::Several),
        }
    }
}

/// Follows brackets through a text. Quotation marks mean strings only inside of brackets; prose leaves them open.
#[derive(Default)]
struct Brackets {
    depth: usize,
    start: usize,
    in_string: bool,
    escaped: bool,
}

impl Brackets {
    /// Takes the next byte; gives the start of the outermost stretch that it closes.
    fn closed_by(&mut self, at: usize, byte: u8) -> Option<usize> {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return None;
        }
        match byte {
            b'{' | b'[' => {
                if self.depth == 0 {
                    self.start = at;
                }
                self.depth += 1;
            }
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                return (self.depth == 0).then_some(self.start);
            }
            b'"' if self.depth > 0 => self.in_string = true,
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests;
