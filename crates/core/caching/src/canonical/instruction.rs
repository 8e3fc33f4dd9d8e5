//! Which part of a request says what to do.

use signalbox_types::{Message, Part, Purpose, Role};
use std::borrow::Cow;

/// What to do, apart from what to do it with: the texts of the last user turn that say that they are it. Where no part of
/// the request says anything, the only text of a single turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction<'a> {
    message: usize,
    pieces: Vec<(usize, &'a str)>,
}

impl<'a> Instruction<'a> {
    /// Finds it; `None` where all of the request is content, which is matched as it is.
    pub(super) fn of(messages: &'a [Message]) -> Option<Self> {
        let is_said = messages.iter().flat_map(|message| &message.parts).any(says_its_purpose);
        if is_said { Self::said(messages) } else { Self::only_text(messages) }
    }

    fn said(messages: &'a [Message]) -> Option<Self> {
        let message = messages.iter().rposition(|message| message.role == Role::User)?;
        let texts = messages[message].parts.iter().enumerate();
        let pieces: Vec<_> = texts
            .filter_map(|(index, part)| match part {
                Part::Text { text, purpose: Purpose::Instruction } => Some((index, text.as_str())),
                _ => None,
            })
            .collect();
        (!pieces.is_empty()).then_some(Self { message, pieces })
    }

    fn only_text(messages: &'a [Message]) -> Option<Self> {
        let [Message { role: Role::User, parts }] = messages else { return None };
        let mut texts = parts.iter().enumerate().filter_map(|(index, part)| match part {
            Part::Text { text, .. } => Some((index, text.as_str())),
            _ => None,
        });
        let only = texts.next()?;
        texts.next().is_none().then(|| Self { message: 0, pieces: vec![only] })
    }

    /// Whether a part of the request belongs to it.
    pub(super) fn holds(&self, message: usize, part: usize) -> bool {
        self.message == message && self.pieces.iter().any(|(index, _)| *index == part)
    }

    /// Its pieces, in their order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.pieces.iter().map(|(_, text)| *text)
    }

    /// Whether its pieces follow each other with nothing in between. Only then it can be read as one text; in pieces around
    /// content it is matched as it is.
    pub fn is_in_one_place(&self) -> bool {
        self.pieces.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0)
    }

    /// Its text, pieces on lines of their own.
    pub fn text(&self) -> Cow<'a, str> {
        match self.pieces.as_slice() {
            [(_, only)] => Cow::Borrowed(only),
            _ => Cow::Owned(self.texts().collect::<Vec<_>>().join("\n")),
        }
    }
}

fn says_its_purpose(part: &Part) -> bool {
    matches!(part, Part::Text { purpose: Purpose::Instruction | Purpose::Content, .. })
}
