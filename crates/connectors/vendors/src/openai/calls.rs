//! Tool calls that arrive in pieces.

use super::response::id_or_made_up;
use super::wire::Word;
use serde::Deserialize;
use serde_json::value::RawValue;
use signalbox_types::{StreamEvent, ToolCallDelta};

/// A piece of a call, as it comes.
#[derive(Debug, Deserialize)]
pub(super) struct CallPiece<'a> {
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Word<'a>,
    #[serde(borrow)]
    function: Option<FunctionPiece<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionPiece<'a> {
    #[serde(borrow, default)]
    name: Word<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The calls of an answer, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug, Default)]
struct Call {
    wire_index: Option<u64>,
    id: String,
    name: String,
    /// Arguments that came before the name did.
    held: String,
    /// Its first event is out.
    begun: bool,
    /// Some of its arguments are out.
    has_arguments: bool,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a piece and tells it on, once the call's name is known.
    pub(super) fn read(&mut self, piece: &CallPiece<'_>, events: &mut Vec<StreamEvent>) {
        let position = self.position_of(piece);
        let Some(call) = self.0.get_mut(position) else { return };
        piece.id.keep_in(&mut call.id);
        if let Some(function) = &piece.function {
            function.name.keep_in(&mut call.name);
            push_arguments(function.arguments, &mut call.held);
        }
        let is_news = !call.begun || !call.held.is_empty();
        if is_news && !call.name.is_empty() {
            events.push(call.tell(position));
        }
    }

    /// The answer ended: tells on what was held, and the arguments of calls that came without.
    pub(super) fn end(&mut self, events: &mut Vec<StreamEvent>) {
        for (position, call) in self.0.iter_mut().enumerate() {
            if !call.has_arguments && call.held.trim().is_empty() {
                call.held.push_str("{}");
            }
            if !call.held.is_empty() {
                events.push(call.tell(position));
            }
        }
    }

    /// Where the piece's call is. Some servers give every call the index 0, others none: then the id tells.
    fn position_of(&mut self, piece: &CallPiece<'_>) -> usize {
        let id = piece.id.as_str();
        let named = piece.function.as_ref().is_some_and(|function| !function.name.as_str().is_empty());
        let found = match piece.index {
            Some(index) => self.0.iter().rposition(|call| call.wire_index == Some(index)),
            None if !id.is_empty() => self.0.iter().rposition(|call| call.id == id),
            None if named => None,
            None => self.0.len().checked_sub(1),
        };
        let same = |call: &Call| id.is_empty() || call.id.is_empty() || call.id == id;
        found.filter(|position| self.0.get(*position).is_some_and(same)).unwrap_or_else(|| {
            self.0.push(Call { wire_index: piece.index, ..Call::default() });
            self.0.len() - 1
        })
    }
}

impl Call {
    fn tell(&mut self, position: usize) -> StreamEvent {
        let first = !std::mem::replace(&mut self.begun, true);
        self.has_arguments |= !self.held.trim().is_empty();
        StreamEvent::ToolCall(ToolCallDelta {
            index: u32::try_from(position).unwrap_or(u32::MAX),
            id: if first { id_or_made_up(&self.id, position) } else { String::new() },
            name: if first { self.name.clone() } else { String::new() },
            arguments: std::mem::take(&mut self.held),
            signature: None,
        })
    }
}

/// Arguments are pieces of text; some servers send a whole object.
fn push_arguments(raw: Option<&RawValue>, text: &mut String) {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return };
    match serde_json::from_str::<String>(raw.get()) {
        Ok(piece) if text.is_empty() => *text = piece,
        Ok(piece) => text.push_str(&piece),
        Err(_) => text.push_str(raw.get()),
    }
}
