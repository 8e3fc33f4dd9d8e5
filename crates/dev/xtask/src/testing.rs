//! Builds the JSON of a small made-up workspace, as `cargo metadata` would print it.

use serde_json::{Value, json};

/// A workspace under construction; a crate's id is its name.
pub(crate) struct Workspace {
    packages: Vec<Value>,
    members: Vec<String>,
    edges: Vec<(String, String, Option<&'static str>)>,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Self { packages: Vec::new(), members: Vec::new(), edges: Vec::new() }
    }

    /// Adds a crate of the workspace.
    pub(crate) fn member(mut self, folder: &str, name: &str) -> Self {
        self.members.push(name.to_owned());
        self.package(&format!("/repo/{folder}"), name)
    }

    /// Adds a crate from a registry.
    pub(crate) fn external(self, name: &str) -> Self {
        self.package(&format!("/registry/{name}"), name)
    }

    /// Makes one crate a normal dependency of another.
    pub(crate) fn uses(mut self, user: &str, used: &str) -> Self {
        self.edges.push((user.to_owned(), used.to_owned(), None));
        self
    }

    /// Makes one crate a dev-dependency of another.
    pub(crate) fn dev_uses(mut self, user: &str, used: &str) -> Self {
        self.edges.push((user.to_owned(), used.to_owned(), Some("dev")));
        self
    }

    fn package(mut self, folder: &str, name: &str) -> Self {
        self.packages.push(json!({
            "id": name, "name": name, "manifest_path": format!("{folder}/Cargo.toml"), "dependencies": [],
        }));
        self
    }

    pub(crate) fn into_json(mut self) -> Value {
        let mut nodes = Vec::new();
        for package in &mut self.packages {
            let name = package["name"].as_str().unwrap().to_owned();
            let own = self.edges.iter().filter(|(user, _, _)| *user == name);
            let (mut declared, mut resolved) = (Vec::new(), Vec::new());
            for (_, used, kind) in own {
                let path = self.members.contains(used).then_some("/repo");
                declared.push(json!({"name": used, "kind": kind, "path": path}));
                resolved.push(json!({"pkg": used, "dep_kinds": [{"kind": kind}]}));
            }
            package["dependencies"] = Value::Array(declared);
            nodes.push(json!({"id": name, "deps": resolved}));
        }
        json!({
            "packages": self.packages,
            "workspace_members": self.members,
            "workspace_root": "/repo",
            "resolve": {"nodes": nodes},
        })
    }
}
