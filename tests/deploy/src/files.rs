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

/// The documents of a text of YAML, those without content left out. A number such as `0440` is octal, as it is to
/// Kubernetes.
pub fn documents(text: &str) -> Vec<Value> {
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .unwrap_or_else(|error| panic!("not YAML: {error}"));
    documents.into_iter().filter(|document| !document.is_null()).collect()
}
