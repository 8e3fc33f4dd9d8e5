//! YAML as a tree that remembers where each value was written and how, so that numbers stay exact.

use super::problem::{Origin, Position, Problem};
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use std::collections::{BTreeMap, HashMap};

/// Deeper nesting than any configuration needs; keeps recursion over the tree safe.
const MAX_DEPTH: usize = 32;
/// More values than any configuration needs; keeps aliases of aliases from filling the memory.
const MAX_NODES: usize = 200_000;

/// A value and the place where it begins.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Scalar(String),
    List(Vec<Node>),
    Map(BTreeMap<String, Entry>),
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key_at: Position,
    pub(super) node: Node,
}

impl Node {
    pub(super) fn empty_map(origin: Origin) -> Self {
        Self { at: Position { origin, ..Position::START }, value: Value::Map(BTreeMap::new()) }
    }

    /// The value under a key, where this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.get(key),
            _ => None,
        }
    }
}

/// A place in a tree: goes down as far as the tree does and keeps the path, for messages.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    pub(super) node: Option<&'a Node>,
    pub(super) at: Position,
    pub(super) path: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn root(node: &'a Node) -> Self {
        Self { node: Some(node), at: node.at, path: String::new() }
    }

    /// The value under a key; the position stays here where there is none.
    pub(super) fn key(&self, key: &str) -> Self {
        let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let path = match (plain, self.path.is_empty()) {
            (true, true) => key.to_owned(),
            (true, false) => format!("{}.{key}", self.path),
            (false, _) => format!("{}[{key:?}]", self.path),
        };
        match self.node.and_then(|node| node.get(key)) {
            Some(entry) => Self { node: Some(&entry.node), at: entry.node.at, path },
            None => Self { node: None, at: self.at, path },
        }
    }

    /// The value at an index; the position stays here where there is none.
    pub(super) fn index(&self, index: usize) -> Self {
        let path = format!("{}[{index}]", self.path);
        match self.node.map(|node| &node.value) {
            Some(Value::List(items)) => {
                let node = items.get(index);
                Self { node, at: node.map_or(self.at, |node| node.at), path }
            }
            // A single value may stand where a list may.
            Some(_) => Self { node: self.node, at: self.at, path: self.path.clone() },
            None => Self { node: None, at: self.at, path },
        }
    }

    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem { at: self.at, field: self.path.clone(), message: message.into() }
    }
}

/// Reads one YAML document. An empty one is an empty map.
pub(super) fn parse(text: &str, origin: Origin, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut builder =
        Builder { events: Parser::new_from_str(text), origin, anchors: HashMap::new(), nodes: 0, problems };
    match builder.document() {
        Ok(node) => Some(node),
        Err(problem) => {
            builder.problems.push(problem);
            None
        }
    }
}

struct Anchor {
    node: Node,
    nodes: usize,
    depth: usize,
}

struct Builder<'t, 'p> {
    events: Parser<'t, StrInput<'t>>,
    origin: Origin,
    anchors: HashMap<usize, Anchor>,
    nodes: usize,
    problems: &'p mut Vec<Problem>,
}

/// A node and how deep it goes below itself.
type Built = (Node, usize);

impl<'t> Builder<'t, '_> {
    fn document(&mut self) -> Result<Node, Problem> {
        let mut root = None;
        while let Some((event, span)) = self.next()? {
            let at = self.position(&span);
            match event {
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(fault(at, "a second document; put everything in one"));
                }
                Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_) => {
                    root = Some(self.node(event, at, 0)?.0);
                }
                _ => {}
            }
        }
        match root {
            None | Some(Node { value: Value::Null, .. }) => Ok(Node::empty_map(self.origin)),
            Some(node) => Ok(node),
        }
    }

    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Problem> {
        self.events.next_event().transpose().map_err(|error| self.scan_problem(&error))
    }

    fn node(&mut self, event: Event<'t>, at: Position, depth: usize) -> Result<Built, Problem> {
        let before = self.nodes;
        self.nodes += 1;
        if depth > MAX_DEPTH {
            return Err(fault(at, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        if self.nodes > MAX_NODES {
            return Err(fault(at, format!("more than {MAX_NODES} values")));
        }
        let (anchor, value, below) = match event {
            Event::Scalar(text, style, anchor, _) => (anchor, scalar(text.into_owned(), style), 0),
            Event::SequenceStart(_, anchor, _) => {
                let (items, below) = self.list(depth)?;
                (anchor, Value::List(items), below)
            }
            Event::MappingStart(_, anchor, _) => {
                let (entries, below) = self.map(depth)?;
                (anchor, Value::Map(entries), below)
            }
            Event::Alias(anchor) => return self.alias(anchor, at, depth),
            _ => return Err(fault(at, "not a value")),
        };
        let node = Node { at, value };
        if anchor != 0 {
            self.anchors
                .insert(anchor, Anchor { node: node.clone(), nodes: self.nodes - before, depth: below });
        }
        Ok((node, below))
    }

    fn alias(&mut self, anchor: usize, at: Position, depth: usize) -> Result<Built, Problem> {
        let Some(anchor) = self.anchors.get(&anchor) else {
            return Err(fault(at, "an alias inside its own anchor"));
        };
        self.nodes += anchor.nodes;
        if self.nodes > MAX_NODES || depth + anchor.depth > MAX_DEPTH {
            return Err(fault(at, "aliases expand to too much"));
        }
        Ok((anchor.node.clone(), anchor.depth))
    }

    fn list(&mut self, depth: usize) -> Result<(Vec<Node>, usize), Problem> {
        let (mut items, mut below) = (Vec::new(), 0);
        while let Some((event, span)) = self.next()? {
            if event == Event::SequenceEnd {
                break;
            }
            let at = self.position(&span);
            if is_node(&event) {
                let (node, deep) = self.node(event, at, depth + 1)?;
                below = below.max(deep + 1);
                items.push(node);
            }
        }
        Ok((items, below))
    }

    fn map(&mut self, depth: usize) -> Result<(BTreeMap<String, Entry>, usize), Problem> {
        let (mut entries, mut below) = (BTreeMap::<String, Entry>::new(), 0);
        let mut key: Option<(String, Position)> = None;
        while let Some((event, span)) = self.next()? {
            if event == Event::MappingEnd {
                break;
            }
            if !is_node(&event) {
                continue;
            }
            let at = self.position(&span);
            let Some((key, key_at)) = key.take() else {
                key = Some((self.map_key(event, at)?, at));
                continue;
            };
            let (node, deep) = self.node(event, at, depth + 1)?;
            below = below.max(deep + 1);
            if let Some(Entry { key_at: first, .. }) = entries.get(&key) {
                let message = format!("written twice; first on line {}", first.line);
                self.problems.push(Problem { at: key_at, field: key, message });
            } else {
                entries.insert(key, Entry { key_at, node });
            }
        }
        Ok((entries, below))
    }

    fn map_key(&mut self, event: Event<'t>, at: Position) -> Result<String, Problem> {
        match event {
            Event::Scalar(text, ..) => Ok(text.into_owned()),
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(Anchor { node: Node { value: Value::Scalar(text), .. }, .. }) => Ok(text.clone()),
                _ => Err(fault(at, "a key must be a text")),
            },
            _ => Err(fault(at, "a key must be a text")),
        }
    }

    fn position(&self, span: &Span) -> Position {
        self.place(span.start.line(), span.start.col())
    }

    fn place(&self, line: usize, column: usize) -> Position {
        let narrow = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Position { origin: self.origin, line: narrow(line), column: narrow(column).saturating_add(1) }
    }

    fn scan_problem(&self, error: &ScanError) -> Problem {
        let at = self.place(error.marker().line(), error.marker().col());
        fault(at, format!("not valid YAML: {}", error.info()))
    }
}

fn is_node(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_))
}

fn scalar(text: String, style: ScalarStyle) -> Value {
    let null = style == ScalarStyle::Plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
    if null { Value::Null } else { Value::Scalar(text) }
}

fn fault(at: Position, message: impl Into<String>) -> Problem {
    Problem { at, field: String::new(), message: message.into() }
}
