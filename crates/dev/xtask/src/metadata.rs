//! The little of `cargo metadata` that the checks read.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// The workspace as Cargo resolved it.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) workspace_root: String,
    pub(crate) resolve: Resolve,
}

/// One crate, ours or a dependency.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) manifest_path: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    /// Set for a crate of this workspace.
    pub(crate) path: Option<String>,
}

/// The resolved graph, for what is reached through others.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

/// A crate in the resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<Edge>,
}

/// A crate another one is linked with, and in which roles.
#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<EdgeKind>,
}

/// One role of an edge: `None` is a normal dependency, else "dev" or "build".
#[derive(Debug, Deserialize)]
pub(crate) struct EdgeKind {
    pub(crate) kind: Option<String>,
}

impl Dependency {
    /// Whether only tests, examples and benches see it.
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

impl Edge {
    /// Whether the crate ends up in what its user links.
    pub(crate) fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|role| role.kind.is_none())
    }
}

impl Metadata {
    /// Asks Cargo, for the host only: crates of other platforms need not have been downloaded.
    pub(crate) fn load(root: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let host = host_triple()?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments = ["metadata", "--format-version", "1", "--filter-platform", &host];
        let output = Command::new(cargo).args(arguments).current_dir(root).output()?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The crates of this workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// Names by package id.
    pub(crate) fn names(&self) -> HashMap<&str, &str> {
        self.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect()
    }
}

fn host_triple() -> Result<String, Box<dyn std::error::Error>> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc -vV names no host")?.to_owned())
}
