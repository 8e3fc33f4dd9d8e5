//! What a file of values is rendered into, as it is looked at here: the golden files, which are what is rendered as long as
//! [`golden`](super::golden) passes. So the chart is rendered once and not by each test.

use serde_json::{Map, Value};
use signalbox_deploy::{
    documents,
    helm::{CHART, values_files},
    read,
};
use std::path::{Path, PathBuf};

/// Where what was rendered is kept.
pub(crate) const GOLDEN: &str = "tests/deploy/tests/chart/golden";

/// The chart's examples, and values of ours that use what they leave as it comes.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files = values_files(&format!("{CHART}/examples"));
    files.extend(values_files("tests/deploy/tests/chart/values"));
    files
}

/// The name of a file of values.
pub(crate) fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The objects of one rendering.
pub(crate) struct Manifests {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    pub(crate) objects: Vec<Value>,
}

/// A pod as it would be made: of a Deployment, a StatefulSet or a Job.
pub(crate) struct Pod<'m> {
    pub(crate) of: &'m Value,
    pub(crate) labels: &'m Value,
    pub(crate) spec: &'m Value,
}

impl Manifests {
    /// Of every file of values.
    pub(crate) fn all() -> Vec<Self> {
        files().iter().map(|file| Self::of(file)).collect()
    }

    pub(crate) fn of(file: &Path) -> Self {
        let name = stem(file);
        let objects = documents(&read(&format!("{GOLDEN}/{name}.yaml")));
        Self { name, file: file.to_owned(), objects }
    }

    /// Of one of the examples.
    pub(crate) fn example(name: &str) -> Self {
        let file = files().into_iter().find(|file| stem(file) == name);
        Self::of(&file.unwrap_or_else(|| panic!("there is no example {name}")))
    }

    pub(crate) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    pub(crate) fn find(&self, kind: &'static str, name: &str) -> Option<&Value> {
        self.of_kind(kind).find(|object| object["metadata"]["name"] == name)
    }

    /// Deployments and StatefulSets.
    pub(crate) fn workloads(&self) -> impl Iterator<Item = &Value> {
        self.of_kind("Deployment").chain(self.of_kind("StatefulSet"))
    }

    /// The pods that serve.
    pub(crate) fn serving(&self) -> impl Iterator<Item = Pod<'_>> {
        self.workloads().map(Pod::of)
    }

    /// And those of hooks.
    pub(crate) fn pods(&self) -> impl Iterator<Item = Pod<'_>> {
        self.serving().chain(self.of_kind("Job").map(Pod::of))
    }
}

impl<'m> Pod<'m> {
    fn of(object: &'m Value) -> Self {
        let template = &object["spec"]["template"];
        Self { of: object, labels: &template["metadata"]["labels"], spec: &template["spec"] }
    }

    pub(crate) fn name(&self) -> &'m str {
        text(self.of, "/metadata/name")
    }

    /// The container of Signalbox itself.
    pub(crate) fn main(&self) -> &'m Value {
        &self.spec["containers"][0]
    }

    /// All containers, those that start first, too.
    pub(crate) fn containers(&self) -> impl Iterator<Item = &'m Value> {
        list(self.spec, "/initContainers").iter().chain(list(self.spec, "/containers"))
    }

    pub(crate) fn is_selected_by(&self, selector: &Value) -> bool {
        let wanted = map(selector, "");
        !wanted.is_empty() && wanted.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }

    pub(crate) fn has_port(&self, name: &str) -> bool {
        list(self.main(), "/ports").iter().any(|port| port["name"] == name)
    }

    /// The roles that its command names.
    pub(crate) fn roles(&self) -> Vec<&'m str> {
        let args = list(self.main(), "/args").iter().filter_map(Value::as_str);
        args.filter_map(|arg| arg.strip_prefix("--role=")).flat_map(|roles| roles.split(',')).collect()
    }
}

/// The text at a pointer; empty where there is none.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a pointer; empty where there is none.
pub(crate) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The map at a pointer; empty where there is none.
pub(crate) fn map<'v>(value: &'v Value, pointer: &str) -> &'v Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.pointer(pointer).and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// What was found wrong, all of it told at once.
#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    pub(crate) fn unless(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.0.push(fault());
        }
    }

    pub(crate) fn assert_none(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}
