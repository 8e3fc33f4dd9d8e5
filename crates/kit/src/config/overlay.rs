//! The operator's file over the built-in catalogue.

use super::tree::{Entry, Node, Value};

/// Lays `over` on `base`: maps merge by key, a key set to null is removed, everything else is replaced.
pub(super) fn overlay(base: Node, over: Node) -> Node {
    match (base.value, over.value) {
        (Value::Map(entries), Value::Map(changes)) => {
            Node { at: over.at, value: Value::Map(merge(entries, changes)) }
        }
        (_, Value::Map(changes)) => Node { at: over.at, value: Value::Map(merge(Vec::new(), changes)) },
        (_, value) => Node { at: over.at, value },
    }
}

fn merge(mut entries: Vec<Entry>, changes: Vec<Entry>) -> Vec<Entry> {
    for change in changes {
        let found = entries.iter().position(|entry| entry.key == change.key);
        if matches!(change.node.value, Value::Null) {
            if let Some(index) = found {
                entries.remove(index);
            }
            continue;
        }
        let base = match found {
            Some(index) => {
                std::mem::replace(&mut entries[index].node, Node { at: change.node.at, value: Value::Null })
            }
            None => Node { at: change.node.at, value: Value::Null },
        };
        let merged = Entry { key: change.key, key_at: change.key_at, node: overlay(base, change.node) };
        match found {
            Some(index) => entries[index] = merged,
            None => entries.push(merged),
        }
    }
    entries
}
