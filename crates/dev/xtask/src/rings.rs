//! Keeps the architecture's rings: which crate may use which, how crates are named, and what the
//! core must never reach. The rule and its reasons are in `docs/architecture.md`, "Where things live".

use std::path::Path;

use crate::metadata::Metadata;
use crate::{Outcome, say};

mod layout;
mod purity;
#[cfg(test)]
mod tests;

/// Checks the workspace and names every violation, not only the first.
pub(crate) fn run(root: &Path) -> Outcome {
    let metadata = Metadata::load(root)?;
    let found = violations(&metadata);
    if found.is_empty() {
        say(&format!("rings: {} crates keep the rule", metadata.members().count()));
        return Ok(());
    }
    Err(format!("the ring rule is broken:\n  {}", found.join("\n  ")).into())
}

fn violations(metadata: &Metadata) -> Vec<String> {
    let mut found = layout::violations(metadata);
    found.extend(purity::violations(metadata));
    found
}
