//! How much work a schema can make.
//!
//! A schema is a graph: keywords lead to further schemas, for the same place of an instance (`allOf`, `$ref`) or for a
//! place inside of it (`properties`, `items`). A few lines of references can ask for more steps than there is time
//! for, so paths through the graph are counted before anything is validated.

use serde_json::Value;
use std::collections::HashMap;

mod graph;

/// Most schemas that may apply to one place of an instance. Real ones stay far below, discriminated unions included.
const MOST_AT_ONE_PLACE: u64 = 10_000;
/// Longest way from schema to schema at one place. Validation goes a stack frame or two deeper with each.
const LONGEST_WAY: usize = 64;

/// Most different regular expressions in a schema. Each may take megabytes once compiled.
const MOST_PATTERNS: usize = 64;

/// A schema's keywords, as far as they lead to other schemas. Node 0 is the root.
#[derive(Debug)]
pub(crate) struct Rules {
    nodes: Vec<Node>,
    /// Every node after those that it applies at the same place.
    order: Vec<usize>,
    patterns: usize,
}

/// One (sub)schema: which others it applies.
#[derive(Debug, Default)]
struct Node {
    /// At the same place.
    here: Vec<usize>,
    /// Inside, each at a place of its own: at most one of them meets a given place.
    apart: Vec<usize>,
    /// Inside, where all of them may meet the same place.
    inside: Vec<usize>,
}

impl Rules {
    /// Reads a schema; the error says why following it could take forever.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let (nodes, patterns) = graph::read(schema);
        let order = order(&nodes)?;
        let rules = Self { nodes, order, patterns };
        rules.check()?;
        Ok(rules)
    }

    /// Most schemas that can meet any one place of an instance that is `depth` levels deep; stops counting beyond
    /// `enough`.
    pub(crate) fn most_at_a_place(&self, depth: usize, enough: u64) -> u64 {
        let mut most = 0;
        let mut above = vec![0_u64; self.nodes.len()];
        let mut level = above.clone();
        for below in 0..=depth {
            for &index in &self.order {
                let node = &self.nodes[index];
                let here = sum(&node.here, &level);
                level[index] = if below == 0 {
                    here.saturating_add(1)
                } else {
                    let apart = node.apart.iter().map(|&child| above[child]).max().unwrap_or(0);
                    here.saturating_add(apart).saturating_add(sum(&node.inside, &above))
                };
            }
            most = most.max(level[0]);
            if most > enough {
                break;
            }
            std::mem::swap(&mut above, &mut level);
        }
        most
    }

    /// Different regular expressions in it.
    pub(crate) fn patterns(&self) -> usize {
        self.patterns
    }

    fn check(&self) -> Result<(), String> {
        if self.patterns > MOST_PATTERNS {
            return Err(format!("more than {MOST_PATTERNS} different patterns"));
        }
        let mut schemas = vec![0_u64; self.nodes.len()];
        let mut way = vec![0_usize; self.nodes.len()];
        for &index in &self.order {
            let here = &self.nodes[index].here;
            schemas[index] = sum(here, &schemas).saturating_add(1);
            way[index] = 1 + here.iter().map(|&next| way[next]).max().unwrap_or(0);
            if way[index] > LONGEST_WAY {
                return Err(format!(
                    "more than {LONGEST_WAY} references or combinations lead on from each other"
                ));
            }
            if schemas[index] > MOST_AT_ONE_PLACE {
                return Err(format!("more than {MOST_AT_ONE_PLACE} schemas apply to one value"));
            }
        }
        Ok(())
    }
}

fn sum(indices: &[usize], of: &[u64]) -> u64 {
    indices.iter().fold(0, |sum, &index| sum.saturating_add(of[index]))
}

/// Depth first, without recursion: a way may be as long as the schema.
fn order(nodes: &[Node]) -> Result<Vec<usize>, String> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut state = vec![State::New; nodes.len()];
    for root in 0..nodes.len() {
        let mut way = vec![(root, 0)];
        while let Some((index, next)) = way.pop() {
            match (state[index], nodes[index].here.get(next)) {
                (State::Done, _) => {}
                (State::Open, _) if next == 0 => {
                    return Err(
                        "a reference leads back to itself without going into a property or item".into()
                    );
                }
                (_, Some(&target)) => {
                    state[index] = State::Open;
                    way.push((index, next + 1));
                    way.push((target, 0));
                }
                (_, None) => {
                    state[index] = State::Done;
                    order.push(index);
                }
            }
        }
    }
    Ok(order)
}

#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    Done,
}

#[cfg(test)]
mod tests;
