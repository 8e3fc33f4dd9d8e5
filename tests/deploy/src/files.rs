//! Files of the repository.

use serde_json::Value;
use signalbox_testkit::workspace;

/// The text of a file, named from the root of the repository.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file of YAML (or JSON), named from the root of the repository.
pub fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The documents of a text of YAML, those without content left out.
pub fn documents(text: &str) -> Vec<Value> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).unwrap_or_else(|error| panic!("not YAML: {error}"));
    documents.into_iter().filter(|document| !document.is_null()).collect()
}
