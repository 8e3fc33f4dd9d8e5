//! The operator's file over the built-in catalogue.

use super::tree::{Entry, Node, Value};
use std::collections::BTreeMap;

/// Lays `over` on `base`: maps merge by key, a key set to null is removed, everything else is replaced.
pub(super) fn overlay(base: Node, over: Node) -> Node {
    match (base.value, over.value) {
        (Value::Map(entries), Value::Map(changes)) => {
            Node { at: over.at, value: Value::Map(merge(entries, changes)) }
        }
        (_, Value::Map(changes)) => Node { at: over.at, value: Value::Map(merge(BTreeMap::new(), changes)) },
        (_, value) => Node { at: over.at, value },
    }
}

fn merge(mut entries: BTreeMap<String, Entry>, changes: BTreeMap<String, Entry>) -> BTreeMap<String, Entry> {
    for (key, change) in changes {
        let base = entries.remove(&key);
        if matches!(change.node.value, Value::Null) {
            continue;
        }
        let base = base.map_or(Node { at: change.node.at, value: Value::Null }, |entry| entry.node);
        entries.insert(key, Entry { key_at: change.key_at, node: overlay(base, change.node) });
    }
    entries
}
