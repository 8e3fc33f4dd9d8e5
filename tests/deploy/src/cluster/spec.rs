//! What a pod is, as far as a node must know it. A field that is not here is refused, so that nothing rendered goes
//! unheeded; what concerns only the scheduler and the network's policies is named and left.

use serde::{Deserialize, de::IgnoredAny};
use std::collections::BTreeMap;

/// Labels, annotations and selectors.
pub(super) type Labels = BTreeMap<String, String>;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PodTemplate {
    #[serde(default)]
    pub(super) metadata: TemplateMetadata,
    pub(super) spec: PodSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct TemplateMetadata {
    pub(super) name: Option<String>,
    pub(super) labels: Labels,
    pub(super) annotations: Labels,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "what the scheduler heeds is named, so that what nobody heeds is refused")]
pub(super) struct PodSpec {
    pub(super) containers: Vec<Container>,
    #[serde(default)]
    pub(super) volumes: Vec<Volume>,
    #[serde(default)]
    pub(super) security_context: SecurityContext,
    #[serde(default = "thirty")]
    pub(super) termination_grace_period_seconds: u64,
    #[serde(default = "yes")]
    pub(super) enable_service_links: bool,
    #[serde(default = "default_account")]
    pub(super) service_account_name: String,
    #[serde(default)]
    pub(super) restart_policy: Option<String>,
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
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    #[serde(default)]
    pub(super) command: Option<Vec<String>>,
    #[serde(default)]
    pub(super) args: Option<Vec<String>>,
    #[serde(default)]
    pub(super) env: Vec<EnvVar>,
    #[serde(default)]
    pub(super) env_from: Vec<EnvFrom>,
    #[serde(default)]
    pub(super) ports: Vec<ContainerPort>,
    #[serde(default)]
    pub(super) volume_mounts: Vec<VolumeMount>,
    #[serde(default)]
    pub(super) security_context: SecurityContext,
    #[serde(default)]
    pub(super) startup_probe: Option<Probe>,
    #[serde(default)]
    pub(super) readiness_probe: Option<Probe>,
    #[serde(default)]
    pub(super) liveness_probe: Option<Probe>,
    #[serde(default)]
    pub(super) lifecycle: Lifecycle,
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
pub(super) struct ContainerPort {
    #[serde(default)]
    pub(super) name: String,
    pub(super) container_port: u16,
    #[serde(default)]
    protocol: IgnoredAny,
}

/// A pod's and its container's, which goes first.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct SecurityContext {
    pub(super) run_as_user: Option<u32>,
    pub(super) run_as_group: Option<u32>,
    pub(super) run_as_non_root: Option<bool>,
    pub(super) fs_group: Option<u32>,
    pub(super) supplemental_groups: Vec<u32>,
    pub(super) read_only_root_filesystem: bool,
    fs_group_change_policy: IgnoredAny,
    allow_privilege_escalation: IgnoredAny,
    capabilities: IgnoredAny,
    privileged: IgnoredAny,
    seccomp_profile: IgnoredAny,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EnvVar {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) value_from: Option<ValueFrom>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) enum ValueFrom {
    #[serde(rename = "fieldRef")]
    Field(FieldRef),
    #[serde(rename = "secretKeyRef")]
    Secret(KeyRef),
    #[serde(rename = "configMapKeyRef")]
    ConfigMap(KeyRef),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "there is one version")]
pub(super) struct FieldRef {
    pub(super) field_path: String,
    #[serde(default)]
    api_version: IgnoredAny,
}

/// One key of a secret or a config map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyRef {
    pub(super) name: String,
    pub(super) key: String,
    #[serde(default)]
    pub(super) optional: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EnvFrom {
    #[serde(default)]
    pub(super) prefix: String,
    #[serde(default)]
    pub(super) config_map_ref: Option<Reference>,
    #[serde(default)]
    pub(super) secret_ref: Option<Reference>,
}

/// A whole secret or config map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    pub(super) name: String,
    #[serde(default)]
    pub(super) optional: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct VolumeMount {
    pub(super) name: String,
    pub(super) mount_path: String,
    #[serde(default)]
    pub(super) read_only: bool,
    #[serde(default)]
    pub(super) sub_path: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Volume {
    pub(super) name: String,
    #[serde(default)]
    pub(super) config_map: Option<Projection>,
    #[serde(default)]
    pub(super) secret: Option<Projection>,
    #[serde(default)]
    pub(super) projected: Option<Projected>,
    #[serde(default)]
    pub(super) empty_dir: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) persistent_volume_claim: Option<Claim>,
}

/// Keys of one secret or config map, as files.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Projection {
    /// Config maps and projected secrets are named so, and secrets otherwise.
    #[serde(alias = "secretName")]
    pub(super) name: String,
    /// All keys where there are none.
    #[serde(default)]
    pub(super) items: Vec<Item>,
    #[serde(default)]
    pub(super) default_mode: Option<u32>,
    #[serde(default)]
    pub(super) optional: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    pub(super) key: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) mode: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Projected {
    pub(super) sources: Vec<Source>,
    #[serde(default)]
    pub(super) default_mode: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Source {
    ConfigMap(Projection),
    Secret(Projection),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Claim {
    pub(super) claim_name: String,
    #[serde(default)]
    pub(super) read_only: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Lifecycle {
    pub(super) pre_stop: Option<PreStop>,
}

/// The image has no shell, so that it must be the node that waits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PreStop {
    pub(super) sleep: Sleep,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sleep {
    pub(super) seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Probe {
    #[serde(default)]
    pub(super) http_get: Option<HttpGet>,
    #[serde(default)]
    pub(super) grpc: Option<Grpc>,
    #[serde(default)]
    pub(super) tcp_socket: Option<TcpSocket>,
    #[serde(default)]
    pub(super) initial_delay_seconds: u64,
    #[serde(default = "ten")]
    pub(super) period_seconds: u64,
    #[serde(default = "one")]
    pub(super) timeout_seconds: u64,
    #[serde(default = "three")]
    pub(super) failure_threshold: u64,
    #[serde(default = "one")]
    pub(super) success_threshold: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpGet {
    pub(super) path: String,
    pub(super) port: Port,
    #[serde(default)]
    pub(super) scheme: Option<String>,
}

/// kubelet takes no names here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grpc {
    pub(super) port: u16,
    #[serde(default)]
    pub(super) service: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TcpSocket {
    pub(super) port: Port,
}

/// A number, or the name that a container gives one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Port {
    Number(u16),
    Name(String),
}

impl PodSpec {
    /// The one container of a pod.
    pub(super) fn container(&self) -> &Container {
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
    pub(super) fn port(&self, port: &Port) -> Option<u16> {
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

fn one() -> u64 {
    1
}

fn three() -> u64 {
    3
}

fn ten() -> u64 {
    10
}

fn thirty() -> u64 {
    30
}

fn default_account() -> String {
    "default".to_owned()
}
