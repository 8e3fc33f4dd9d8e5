//! What a pod is, as far as a node must know it. A field that is not here is refused, so that nothing rendered goes
//! unheeded; what concerns only the scheduler and the network's policies is named and left.

mod env;
mod probes;
mod volumes;

pub(crate) use env::{EnvFrom, EnvVar, KeyRef, Reference, ValueFrom};
pub(crate) use probes::{HttpGet, Lifecycle, Probe};
pub(crate) use volumes::{Item, Projected, Projection, Source, Volume, VolumeMount};

use serde::{Deserialize, de::IgnoredAny};
use std::collections::BTreeMap;

/// Labels, annotations and selectors.
pub(crate) type Labels = BTreeMap<String, String>;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodTemplate {
    #[serde(default)]
    pub(crate) metadata: TemplateMetadata,
    pub(crate) spec: PodSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct TemplateMetadata {
    pub(crate) name: Option<String>,
    pub(crate) labels: Labels,
    pub(crate) annotations: Labels,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "what the scheduler heeds is named, so that what nobody heeds is refused")]
pub(crate) struct PodSpec {
    pub(crate) containers: Vec<Container>,
    #[serde(default)]
    pub(crate) volumes: Vec<Volume>,
    #[serde(default)]
    pub(crate) security_context: SecurityContext,
    #[serde(default = "thirty")]
    pub(crate) termination_grace_period_seconds: u64,
    #[serde(default = "yes")]
    pub(crate) enable_service_links: bool,
    #[serde(default = "default_account")]
    pub(crate) service_account_name: String,
    #[serde(default)]
    pub(crate) restart_policy: Option<String>,
    #[serde(default)]
    automount_service_account_token: IgnoredAny,
    #[serde(default)]
    affinity: IgnoredAny,
    #[serde(default)]
    image_pull_secrets: IgnoredAny,
    #[serde(default)]
    node_selector: IgnoredAny,
    #[serde(default)]
    priority_class_name: IgnoredAny,
    #[serde(default)]
    tolerations: IgnoredAny,
    #[serde(default)]
    topology_spread_constraints: IgnoredAny,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "limits are the kernel's business on a real node; the processes here share this machine"
)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) image: String,
    #[serde(default)]
    pub(crate) command: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) args: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) env: Vec<EnvVar>,
    #[serde(default)]
    pub(crate) env_from: Vec<EnvFrom>,
    #[serde(default)]
    pub(crate) ports: Vec<ContainerPort>,
    #[serde(default)]
    pub(crate) volume_mounts: Vec<VolumeMount>,
    #[serde(default)]
    pub(crate) security_context: SecurityContext,
    #[serde(default)]
    pub(crate) startup_probe: Option<Probe>,
    #[serde(default)]
    pub(crate) readiness_probe: Option<Probe>,
    #[serde(default)]
    pub(crate) liveness_probe: Option<Probe>,
    #[serde(default)]
    pub(crate) lifecycle: Lifecycle,
    #[serde(default)]
    image_pull_policy: IgnoredAny,
    #[serde(default)]
    resources: IgnoredAny,
    #[serde(default)]
    termination_message_policy: IgnoredAny,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "TCP is all that is spoken")]
pub(crate) struct ContainerPort {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) container_port: u16,
    #[serde(default)]
    protocol: IgnoredAny,
}

/// A pod's and its container's, which goes first.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct SecurityContext {
    pub(crate) run_as_user: Option<u32>,
    pub(crate) run_as_group: Option<u32>,
    pub(crate) run_as_non_root: Option<bool>,
    pub(crate) fs_group: Option<u32>,
    pub(crate) supplemental_groups: Vec<u32>,
    pub(crate) read_only_root_filesystem: bool,
    fs_group_change_policy: IgnoredAny,
    allow_privilege_escalation: IgnoredAny,
    capabilities: IgnoredAny,
    privileged: IgnoredAny,
    seccomp_profile: IgnoredAny,
}

/// A number, or the name that a container gives one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Port {
    Number(u16),
    Name(String),
}

impl PodSpec {
    /// The one container of a pod.
    pub(crate) fn container(&self) -> &Container {
        match self.containers.as_slice() {
            [container] => container,
            others => {
                panic!("a pod has {} containers, and one is all that can be started here", others.len())
            }
        }
    }
}

impl Container {
    /// The number of a port.
    pub(crate) fn port(&self, port: &Port) -> Option<u16> {
        match port {
            Port::Number(number) => Some(*number),
            Port::Name(name) => {
                self.ports.iter().find(|port| port.name == *name).map(|port| port.container_port)
            }
        }
    }
}

fn yes() -> bool {
    true
}

fn thirty() -> u64 {
    30
}

fn default_account() -> String {
    "default".to_owned()
}
