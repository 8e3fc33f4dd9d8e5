//! The conversation.

use crate::{
    convert::{
        answer::part_to_proto,
        enums,
        validate::{Violations, known_enum},
    },
    v1,
};
use signalbox_types::{Image, ImageSource, JsonText, Message, Part, Reasoning, Role, ToolCall, ToolResult};
use std::{borrow::Cow, collections::HashMap};

/// Most messages in a request.
pub(super) const MOST_MESSAGES: usize = 10_000;
/// Most parts in a message.
pub(super) const MOST_PARTS: usize = 1_000;
/// The image types that every vendor with image input takes.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Reads the turns, in order; a tool result must answer a call made before it.
pub(super) fn read(wire: Vec<v1::Message>, violations: &mut Violations) -> Vec<Message> {
    violations.check(!wire.is_empty(), || "messages", || "is empty; send at least one user message");
    violations.at_most(wire.len(), MOST_MESSAGES, "messages", || "messages");
    let ends_with_user = wire.last().is_none_or(|last| last.role() == v1::Role::User);
    violations.check(ends_with_user, || "messages", || "must end with a user message (ROLE_USER)");
    let mut calls = Calls::default();
    wire.into_iter()
        .enumerate()
        .map(|(index, message)| read_message(message, index, &mut calls, violations))
        .collect()
}

/// The tool calls seen so far.
#[derive(Default)]
struct Calls {
    /// The latest of each id.
    by_id: HashMap<String, Call>,
    /// Neighbouring messages of one role are one turn.
    turn: usize,
    role: Option<Role>,
}

struct Call {
    name: String,
    turn: usize,
}

impl Calls {
    fn enter(&mut self, role: Role) {
        if self.role.replace(role) != Some(role) {
            self.turn += 1;
        }
    }

    /// Whether the turn has no other call of this id.
    fn is_new(&mut self, id: &str, name: &str) -> bool {
        let call = Call { name: name.to_owned(), turn: self.turn };
        self.by_id.insert(id.to_owned(), call).is_none_or(|before| before.turn != self.turn)
    }
}

fn read_message(wire: v1::Message, index: usize, calls: &mut Calls, violations: &mut Violations) -> Message {
    let role = match v1::Role::try_from(wire.role) {
        Ok(v1::Role::User) => Role::User,
        Ok(v1::Role::Assistant) => Role::Assistant,
        _ => {
            violations.add(format!("messages[{index}].role"), "must be ROLE_USER or ROLE_ASSISTANT");
            Role::User
        }
    };
    violations.check(!wire.content.is_empty(), || format!("messages[{index}].content"), || "is empty");
    violations.at_most(wire.content.len(), MOST_PARTS, "parts", || format!("messages[{index}].content"));
    calls.enter(role);
    let mut reader = PartReader { role, message: index, part: 0, calls, violations };
    let mut parts = Vec::with_capacity(wire.content.len());
    for (part, wire) in wire.content.into_iter().enumerate() {
        reader.part = part;
        parts.extend(reader.read(wire));
    }
    Message { role, parts }
}

/// Reads the parts of one turn; knows where it is, to name the field.
struct PartReader<'a> {
    role: Role,
    message: usize,
    part: usize,
    calls: &'a mut Calls,
    violations: &'a mut Violations,
}

impl PartReader<'_> {
    fn check<'d>(&mut self, holds: bool, field: &str, description: impl Into<Cow<'d, str>>) {
        let place = (self.message, self.part);
        self.violations.check(holds, || path(place, field), || description.into());
    }

    fn known_enum<E: TryFrom<i32> + Default>(&mut self, value: i32, field: &str) -> E {
        let place = (self.message, self.part);
        E::try_from(value).unwrap_or_else(|_| known_enum(value, path(place, field), self.violations))
    }

    fn read(&mut self, wire: v1::Part) -> Option<Part> {
        use v1::part::Part as Wire;
        let purpose = self.known_enum(wire.purpose, "purpose");
        let Some(part) = wire.part else {
            self.check(false, "", "has no text, image, tool_call, tool_result or reasoning");
            return None;
        };
        Some(match part {
            Wire::Text(text) => {
                self.check(!text.is_empty(), "text", "is empty");
                Part::Text { text, purpose: enums::purpose_from_proto(purpose) }
            }
            Wire::Image(image) => Part::Image(self.read_image(image)?),
            Wire::ToolCall(call) => Part::ToolCall(self.read_call(call)),
            Wire::ToolResult(result) => Part::ToolResult(self.read_result(result)),
            Wire::Reasoning(reasoning) => {
                self.check(
                    self.role == Role::Assistant,
                    "reasoning",
                    "is allowed in assistant messages only",
                );
                Part::Reasoning(Reasoning {
                    text: reasoning.text,
                    signature: non_empty(reasoning.signature),
                    redacted: reasoning.redacted,
                    vendor: reasoning.vendor,
                })
            }
        })
    }

    fn read_image(&mut self, image: v1::Image) -> Option<Image> {
        self.check(self.role == Role::User, "image", "is allowed in user messages only");
        let detail = enums::detail_from_proto(self.known_enum(image.detail, "image.detail"));
        let source = match image.source {
            Some(v1::image::Source::Data(data)) => {
                self.check(!data.is_empty(), "image.data", "is empty");
                let known = IMAGE_TYPES.contains(&image.media_type.as_str());
                self.check(
                    known,
                    "image.media_type",
                    "must be image/png, image/jpeg, image/gif or image/webp",
                );
                ImageSource::Inline { media_type: image.media_type, data }
            }
            Some(v1::image::Source::Url(url)) => {
                self.check(
                    url.starts_with("https://"),
                    "image.url",
                    "must start with https://; send bytes in data",
                );
                self.check(
                    !url.starts_with("https://") || has_host(&url),
                    "image.url",
                    "names no host, as in https://example.com/a.png",
                );
                ImageSource::Url(url)
            }
            None => {
                self.check(false, "image", "has neither data nor url");
                return None;
            }
        };
        Some(Image { source, detail })
    }

    fn read_call(&mut self, call: v1::ToolCall) -> ToolCall {
        self.check(self.role == Role::Assistant, "tool_call", "is allowed in assistant messages only");
        self.check(!call.id.is_empty(), "tool_call.id", "is empty");
        self.check(!call.name.is_empty(), "tool_call.name", "is empty");
        let arguments = if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments };
        match JsonText::check(&arguments) {
            Ok(()) => self.check(
                arguments.trim_start().starts_with('{'),
                "tool_call.arguments",
                "must be the JSON text of an object",
            ),
            Err(problem) => self.check(
                false,
                "tool_call.arguments",
                format!("must be the JSON text of an object: {problem}"),
            ),
        }
        let is_new = self.calls.is_new(&call.id, &call.name);
        self.check(
            is_new || call.id.is_empty(),
            "tool_call.id",
            "is that of another call of this turn; each needs its own",
        );
        ToolCall { id: call.id, name: call.name, arguments, signature: non_empty(call.signature) }
    }

    fn read_result(&mut self, result: v1::ToolResult) -> ToolResult {
        self.check(self.role == Role::User, "tool_result", "is allowed in user messages only");
        let call = self.calls.by_id.get(&result.tool_call_id);
        let name = match call {
            Some(call) if result.name.is_empty() => call.name.clone(),
            _ => result.name,
        };
        let answers_a_call = call.is_some();
        self.check(answers_a_call, "tool_result.tool_call_id", "answers no tool_call of an earlier message");
        ToolResult {
            tool_call_id: result.tool_call_id,
            name,
            content: result.content,
            is_error: result.is_error,
        }
    }
}

/// A field of a part, given by the places of message and part; the part itself where it is empty.
fn path((message, part): (usize, usize), field: &str) -> String {
    let dot = if field.is_empty() { "" } else { "." };
    format!("messages[{message}].content[{part}]{dot}{field}")
}

/// Whether an https address names a host, by its form.
fn has_host(url: &str) -> bool {
    let address = url.trim_start_matches("https://");
    let authority = address.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    !host.is_empty()
        && !host.starts_with(':')
        && !host.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The turns on the wire.
pub(super) fn write(messages: Vec<Message>) -> Vec<v1::Message> {
    messages
        .into_iter()
        .map(|message| {
            let role = match message.role {
                Role::User => v1::Role::User,
                Role::Assistant => v1::Role::Assistant,
            };
            v1::Message { role: role as i32, content: message.parts.into_iter().map(part_to_proto).collect() }
        })
        .collect()
}
