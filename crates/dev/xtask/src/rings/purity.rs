//! The core is arithmetic: no runtime, no I/O, no clock, no global randomness, not even through others.

use std::collections::{HashMap, HashSet, VecDeque};

use super::layout::{Ring, folder, ring_of};
use crate::metadata::{Metadata, Node};

/// What a core crate must not reach, and what to do instead.
const IMPURE: &[(&str, &str)] = &[
    ("async-std", "no async runtime in the core"),
    ("chrono", "time comes in by the argument list"),
    ("hyper", "no I/O in the core"),
    ("mio", "no I/O in the core"),
    ("rand", "randomness comes in by the argument list"),
    ("reqwest", "no I/O in the core"),
    ("rustls", "no I/O in the core"),
    ("smol", "no async runtime in the core"),
    ("socket2", "no I/O in the core"),
    ("sqlx", "no I/O in the core"),
    ("tempfile", "no I/O in the core"),
    ("time", "time comes in by the argument list"),
    ("tokio", "no async runtime in the core"),
    ("tonic", "wire types belong to the api ring"),
    ("tracing-subscriber", "the core returns facts; others log them"),
    ("ureq", "no I/O in the core"),
];

pub(super) fn violations(metadata: &Metadata) -> Vec<String> {
    let names = metadata.names();
    let nodes: HashMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let core = metadata.members().filter(|package| ring_of(&folder(metadata, package)) == Some(Ring::Core));
    core.flat_map(|package| impurities(&package.id, &nodes, &names)).collect()
}

/// Breadth first over normal dependencies, so that the path named is a shortest one.
fn impurities(start: &str, nodes: &HashMap<&str, &Node>, names: &HashMap<&str, &str>) -> Vec<String> {
    let name = |id: &str| names.get(id).copied().unwrap_or("?").to_owned();
    let mut found = Vec::new();
    let mut seen = HashSet::from([start.to_owned()]);
    let mut queue = VecDeque::from([(start.to_owned(), vec![name(start)])]);
    while let Some((id, path)) = queue.pop_front() {
        let edges = nodes.get(id.as_str()).map(|node| node.deps.as_slice()).unwrap_or_default();
        for edge in edges.iter().filter(|edge| edge.is_normal()) {
            if !seen.insert(edge.pkg.clone()) {
                continue;
            }
            let reached = name(&edge.pkg);
            let mut path = path.clone();
            path.push(reached.clone());
            match IMPURE.iter().find(|(impure, _)| *impure == reached) {
                Some((_, reason)) => found.push(format!("{}: {reason}", path.join(" -> "))),
                None => queue.push_back((edge.pkg.clone(), path)),
            }
        }
    }
    found
}
