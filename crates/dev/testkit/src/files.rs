//! Configuration files of a deployment.

use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The files of one deployment's processes: one configuration, with what is different for each laid over it.
#[derive(Debug)]
pub(crate) struct ConfigFiles {
    folder: TempDir,
    files: Vec<(PathBuf, Value)>,
}

impl ConfigFiles {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        Self { folder, files: Vec::new() }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, config: &Value, own: Value) -> PathBuf {
        let path = self.folder.path().join(name);
        replace(&path, &text(config, &own));
        self.files.push((path.clone(), own));
        path
    }

    /// Writes another configuration to all files.
    pub(crate) fn write(&self, config: &Value) {
        self.files.iter().for_each(|(path, own)| replace(path, &text(config, own)));
    }

    /// Writes a text to all files.
    pub(crate) fn write_text(&self, text: &str) {
        self.files.iter().for_each(|(path, _)| replace(path, text));
    }
}

/// JSON is YAML.
fn text(config: &Value, own: &Value) -> String {
    let mut whole = config.clone();
    merge(&mut whole, own.clone());
    format!("{whole:#}\n")
}

/// In one step, so that nobody reads half a file.
pub(crate) fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Lays `over` over `base`: objects merge by key, anything else is replaced.
pub fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}
