//! Rendered manifests, read into what there is to start and what it needs.

use super::spec::{Labels, PodTemplate, Port};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::collections::BTreeMap;

/// Content by key, of config maps and secrets.
pub(super) type Content = BTreeMap<String, Vec<u8>>;

/// Everything of one kind that is rendered into a cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    pub(super) workloads: Vec<Workload>,
    pub(super) jobs: Vec<Job>,
    pub(super) services: Vec<Service>,
    pub(super) config_maps: BTreeMap<String, Content>,
    pub(super) secrets: BTreeMap<String, Content>,
}

/// A Deployment or a StatefulSet.
#[derive(Debug, Clone)]
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) replicas: usize,
    /// Pods keep their names and claims.
    pub(super) stateful: bool,
    /// A new pod may start before an old one stops.
    pub(super) rolling: bool,
    pub(super) claims: Vec<String>,
    pub(super) template: PodTemplate,
}

/// A Job, run by helm before the rest is there, or afterwards.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) attempts: u32,
    pub(super) template: PodTemplate,
}

#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) name: String,
    pub(super) spec: ServiceSpec,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServiceSpec {
    #[serde(rename = "clusterIP", default)]
    pub(super) cluster_ip: Option<String>,
    #[serde(default)]
    pub(super) selector: Labels,
    #[serde(default)]
    pub(super) ports: Vec<ServicePort>,
    #[serde(default)]
    pub(super) publish_not_ready_addresses: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServicePort {
    #[serde(default)]
    pub(super) name: String,
    pub(super) port: u16,
    #[serde(default)]
    pub(super) target_port: Option<Port>,
}

impl Service {
    pub(super) fn is_headless(&self) -> bool {
        self.spec.cluster_ip.as_deref() == Some("None")
    }

    pub(super) fn selects(&self, labels: &Labels) -> bool {
        let selector = &self.spec.selector;
        !selector.is_empty() && selector.iter().all(|(name, value)| labels.get(name) == Some(value))
    }
}

impl ServicePort {
    /// The pods' port.
    pub(super) fn target(&self) -> Port {
        self.target_port.clone().unwrap_or(Port::Number(self.port))
    }
}

/// When helm brings an object: those of a hook before or after the rest, the lighter ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Before(i64),
    Main,
    After(i64),
}

impl Objects {
    /// What is brought at each step, in order. `upgrade` says that a release is there already.
    pub(super) fn by_step(documents: &[Value], upgrade: bool) -> BTreeMap<Step, Self> {
        let mut steps: BTreeMap<Step, Self> = BTreeMap::new();
        let minima = replica_minima(documents);
        for document in documents {
            if let Some(step) = step(document, upgrade) {
                steps.entry(step).or_default().add(document, &minima);
            }
        }
        steps
    }

    /// Takes over what another has.
    pub(super) fn extend(&mut self, other: Self) {
        self.workloads.extend(other.workloads);
        self.jobs.extend(other.jobs);
        self.services.retain(|known| other.services.iter().all(|service| service.name != known.name));
        self.services.extend(other.services);
        self.config_maps.extend(other.config_maps);
        self.secrets.extend(other.secrets);
    }

    fn add(&mut self, document: &Value, minima: &BTreeMap<String, usize>) {
        let name = text(document, "/metadata/name").to_owned();
        match text(document, "/kind") {
            "Deployment" | "StatefulSet" => self.workloads.push(workload(document, name, minima)),
            "Job" => {
                let retries: u32 = optional(document, "/spec/backoffLimit").unwrap_or(6);
                self.jobs.push(Job {
                    name,
                    attempts: retries + 1,
                    template: part(document, "/spec/template"),
                });
            }
            "Service" => self.services.push(Service { name, spec: part(document, "/spec") }),
            "ConfigMap" => _ = self.config_maps.insert(name, content(document)),
            "Secret" => _ = self.secrets.insert(name, content(document)),
            "DaemonSet" | "Pod" | "ReplicaSet" | "CronJob" => {
                panic!("{name}: a {} cannot be started here", text(document, "/kind"));
            }
            // Nothing runs because of it.
            _ => {}
        }
    }
}

fn workload(document: &Value, name: String, minima: &BTreeMap<String, usize>) -> Workload {
    let template: PodTemplate = part(document, "/spec/template");
    let selector: Labels = part(document, "/spec/selector/matchLabels");
    for (label, value) in &selector {
        let has = template.metadata.labels.get(label);
        assert!(
            has == Some(value),
            "{name}: the pods' label {label} is {has:?}, and the selector wants {value}"
        );
    }
    let stateful = text(document, "/kind") == "StatefulSet";
    let claims: Vec<Value> = optional(document, "/spec/volumeClaimTemplates").unwrap_or_default();
    let rendered = optional(document, "/spec/replicas").or_else(|| minima.get(&name).copied());
    Workload {
        replicas: rendered.unwrap_or(1),
        stateful,
        rolling: !stateful && overlaps(document),
        claims: claims.iter().map(|claim| text(claim, "/metadata/name").to_owned()).collect(),
        template,
        name,
    }
}

/// Whether a new pod may be there beside the old ones; one may where nothing is said.
fn overlaps(document: &Value) -> bool {
    let strategy = |field| document.pointer(&format!("/spec/strategy{field}"));
    strategy("/type") != Some(&Value::from("Recreate"))
        && strategy("/rollingUpdate/maxSurge") != Some(&Value::from(0))
}

/// Where a HorizontalPodAutoscaler decides, it has at least so many replicas.
fn replica_minima(documents: &[Value]) -> BTreeMap<String, usize> {
    let scalers = documents.iter().filter(|document| text(document, "/kind") == "HorizontalPodAutoscaler");
    let minimum = |scaler: &Value| optional(scaler, "/spec/minReplicas").unwrap_or(1);
    scalers.map(|scaler| (text(scaler, "/spec/scaleTargetRef/name").to_owned(), minimum(scaler))).collect()
}

/// Nothing where helm would not bring it now.
fn step(document: &Value, upgrade: bool) -> Option<Step> {
    let annotations = document.pointer("/metadata/annotations");
    let annotation = |name: &str| annotations.and_then(|all| all.get(name)).and_then(Value::as_str);
    let Some(hooks) = annotation("helm.sh/hook") else { return Some(Step::Main) };
    let weight = annotation("helm.sh/hook-weight").and_then(|weight| weight.parse().ok()).unwrap_or(0);
    let (before, after) =
        if upgrade { ("pre-upgrade", "post-upgrade") } else { ("pre-install", "post-install") };
    hooks.split(',').map(str::trim).find_map(|hook| match hook {
        hook if hook == before => Some(Step::Before(weight)),
        hook if hook == after => Some(Step::After(weight)),
        _ => None,
    })
}

/// `data` of a config map is text, of a secret base64; both may say it otherwise under another name.
fn content(document: &Value) -> Content {
    let secret = text(document, "/kind") == "Secret";
    let mut content = Content::new();
    for (field, encoded) in [("data", secret), ("binaryData", true), ("stringData", false)] {
        for (key, value) in document.get(field).and_then(Value::as_object).into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            content.insert(key.clone(), if encoded { decoded(value) } else { value.as_bytes().to_vec() });
        }
    }
    content
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    bytes.unwrap_or_else(|error| panic!("not base64: {error}"))
}

fn text<'d>(document: &'d Value, pointer: &str) -> &'d str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn part<T: DeserializeOwned>(document: &Value, pointer: &str) -> T {
    optional(document, pointer)
        .unwrap_or_else(|| panic!("{}: there is no {pointer}", text(document, "/metadata/name")))
}

fn optional<T: DeserializeOwned>(document: &Value, pointer: &str) -> Option<T> {
    let found = document.pointer(pointer).filter(|found| !found.is_null())?;
    match T::deserialize(found) {
        Ok(read) => Some(read),
        Err(error) => {
            panic!("{} {}, {pointer}: {error}", text(document, "/kind"), text(document, "/metadata/name"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hook(name: &str, hooks: &str, weight: &str) -> Value {
        let annotations = json!({"helm.sh/hook": hooks, "helm.sh/hook-weight": weight});
        json!({"kind": "ConfigMap", "metadata": {"name": name, "annotations": annotations}, "data": {}})
    }

    fn brought(documents: &[Value], upgrade: bool) -> Vec<String> {
        let steps = Objects::by_step(documents, upgrade).into_values();
        steps.flat_map(|objects| objects.config_maps.into_keys()).collect()
    }

    #[test]
    fn hooks_come_by_weight_around_the_rest_and_only_at_their_time() {
        let documents = [
            hook("afterwards", "post-install,post-upgrade", "0"),
            hook("heavy", "pre-install,pre-upgrade", "5"),
            hook("light", "pre-install", "-5"),
            hook("test", "test", "0"),
            json!({"kind": "ConfigMap", "metadata": {"name": "main"}, "data": {}}),
        ];
        assert_eq!(brought(&documents, false), ["light", "heavy", "main", "afterwards"]);
        assert_eq!(brought(&documents, true), ["heavy", "main", "afterwards"]);
    }

    #[test]
    fn pods_are_as_many_as_their_autoscaler_wants_at_least() {
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}});
        let deployment = json!({"kind": "Deployment", "metadata": {"name": "router"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": template}});
        let scaler = json!({"kind": "HorizontalPodAutoscaler", "metadata": {"name": "scaler"}, "spec": {
            "scaleTargetRef": {"name": "router"}, "minReplicas": 3}});
        let replicas = |documents: &[Value]| {
            let objects = Objects::by_step(documents, false).remove(&Step::Main).unwrap();
            objects.workloads[0].replicas
        };
        assert_eq!(replicas(&[deployment.clone(), scaler]), 3);
        assert_eq!(replicas(&[deployment]), 1);
    }

    #[test]
    #[should_panic(expected = "unknown field `hostNetwork`")]
    fn what_is_not_known_here_is_refused() {
        let template = json!({"metadata": {"labels": {}}, "spec": {"containers": [], "hostNetwork": true}});
        let job = json!({"kind": "Job", "metadata": {"name": "job"}, "spec": {"template": template}});
        Objects::by_step(&[job], false);
    }
}
