//! From a schema to its graph.

use super::{HashMap, Node, Value};
use std::{borrow::Cow, collections::HashSet};

/// Every schema in a document and every one referred to, the root first, and the number of different patterns in
/// them. A reference that cannot be followed here leads nowhere.
pub(super) fn read(schema: &Value) -> (Vec<Node>, usize) {
    let mut graph = Graph { resources: vec![schema], ..Graph::default() };
    graph.node(schema, 0);
    loop {
        // All anchors and ids are known before the first reference is followed.
        if let Some((index, schema, resource)) = graph.unread.pop() {
            graph.read(index, schema, resource);
        } else if let Some((from, reference, resource)) = graph.references.pop() {
            graph.follow(from, reference, resource);
        } else {
            return (graph.nodes, graph.patterns.len());
        }
    }
}

#[derive(Default)]
struct Graph<'a> {
    nodes: Vec<Node>,
    /// Nodes and their resources by the address of the schema: the same text may stand in two places.
    known: HashMap<*const Value, (usize, usize)>,
    /// Roots of resources: the document, and schemas with an `$id`. References in them count from there.
    resources: Vec<&'a Value>,
    /// Resources by id, and by its last segment; the first of a name counts.
    by_id: HashMap<&'a str, usize>,
    by_last_segment: HashMap<&'a str, usize>,
    anchors: HashMap<(usize, &'a str), &'a Value>,
    patterns: HashSet<&'a str>,
    unread: Vec<(usize, &'a Value, usize)>,
    references: Vec<(usize, &'a str, usize)>,
}

/// How a keyword's schemas apply.
#[derive(Clone, Copy)]
enum Applies {
    Here,
    Apart,
    Inside,
    /// Only where something refers to them.
    OnDemand,
}

impl<'a> Graph<'a> {
    fn node(&mut self, schema: &'a Value, resource: usize) -> usize {
        if let Some(&(index, _)) = self.known.get(&std::ptr::from_ref(schema)) {
            return index;
        }
        let resource = self.resource(schema, resource);
        let index = self.nodes.len();
        self.nodes.push(Node::default());
        self.known.insert(std::ptr::from_ref(schema), (index, resource));
        self.unread.push((index, schema, resource));
        index
    }

    fn resource(&mut self, schema: &'a Value, around: usize) -> usize {
        match schema.get("$id").and_then(Value::as_str) {
            Some(id) if !id.starts_with('#') => {
                let (id, index) = (id.trim_end_matches('#'), self.resources.len());
                self.resources.push(schema);
                self.by_id.entry(id).or_insert(index);
                if !id.is_empty() {
                    self.by_last_segment.entry(last_segment(id)).or_insert(index);
                }
                index
            }
            _ => around,
        }
    }

    fn read(&mut self, index: usize, schema: &'a Value, resource: usize) {
        let Some(keywords) = schema.as_object() else { return };
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    self.references.extend(value.as_str().map(|reference| (index, reference, resource)));
                }
                "$anchor" | "$dynamicAnchor" => {
                    self.anchors.extend(value.as_str().map(|name| ((resource, name), schema)));
                }
                "not" | "if" | "then" | "else" => self.edge(index, Applies::Here, value, resource),
                "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                    self.edges(index, Applies::Here, value, resource);
                }
                "properties" | "prefixItems" => self.edges(index, Applies::Apart, value, resource),
                "pattern" => self.patterns.extend(value.as_str()),
                "patternProperties" => {
                    let patterns = value.as_object().into_iter().flat_map(|schemas| schemas.keys());
                    self.patterns.extend(patterns.map(String::as_str));
                    self.edges(index, Applies::Inside, value, resource);
                }
                // A list before draft 2020-12.
                "items" if value.is_array() => self.edges(index, Applies::Apart, value, resource),
                "items"
                | "additionalItems"
                | "unevaluatedItems"
                | "contains"
                | "propertyNames"
                | "additionalProperties"
                | "unevaluatedProperties" => {
                    self.edge(index, Applies::Inside, value, resource);
                }
                "$defs" | "definitions" => self.edges(index, Applies::OnDemand, value, resource),
                _ => {}
            }
        }
    }

    fn edges(&mut self, from: usize, applies: Applies, many: &'a Value, resource: usize) {
        match many {
            Value::Array(schemas) => {
                schemas.iter().for_each(|schema| self.edge(from, applies, schema, resource));
            }
            Value::Object(schemas) => {
                schemas.values().for_each(|schema| self.edge(from, applies, schema, resource));
            }
            _ => {}
        }
    }

    fn edge(&mut self, from: usize, applies: Applies, schema: &'a Value, resource: usize) {
        if !schema.is_object() {
            return;
        }
        let to = self.node(schema, resource);
        let node = &mut self.nodes[from];
        match applies {
            Applies::Here => node.here.push(to),
            Applies::Apart => node.apart.push(to),
            Applies::Inside => node.inside.push(to),
            Applies::OnDemand => {}
        }
    }

    fn follow(&mut self, from: usize, reference: &str, resource: usize) {
        let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let Some(resource) = self.named(id, resource) else { return };
        let root = self.resources[resource];
        let fragment = decoded(fragment);
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            root.pointer(&fragment)
        } else {
            self.anchors.get(&(resource, fragment.as_ref())).copied()
        };
        if let Some(target) = target {
            self.edge(from, Applies::Here, target, resource);
        }
    }

    /// The resource that an id names. Ids are compared by their last segment, which spares resolving them against
    /// each other and can at worst count a schema too many.
    fn named(&self, id: &str, from: usize) -> Option<usize> {
        if id.is_empty() {
            return Some(from);
        }
        self.by_id.get(id).or_else(|| self.by_last_segment.get(last_segment(id))).copied()
    }
}

fn last_segment(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(_, last)| last)
}

/// A fragment without its percent encoding.
fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
