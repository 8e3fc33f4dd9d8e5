//! How a container is asked how it is, and told to end.

use super::Port;
use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Lifecycle {
    pub(crate) pre_stop: Option<PreStop>,
}

/// The image has no shell, so that it must be the node that waits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreStop {
    pub(crate) sleep: Sleep,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sleep {
    pub(crate) seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Probe {
    #[serde(default)]
    pub(crate) http_get: Option<HttpGet>,
    #[serde(default)]
    pub(crate) grpc: Option<Grpc>,
    #[serde(default)]
    pub(crate) tcp_socket: Option<TcpSocket>,
    #[serde(default)]
    pub(crate) initial_delay_seconds: u64,
    #[serde(default = "ten")]
    pub(crate) period_seconds: u64,
    #[serde(default = "one")]
    pub(crate) timeout_seconds: u64,
    #[serde(default = "three")]
    pub(crate) failure_threshold: u64,
    #[serde(default = "one")]
    pub(crate) success_threshold: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpGet {
    pub(crate) path: String,
    pub(crate) port: Port,
    #[serde(default)]
    pub(crate) scheme: Option<String>,
}

/// kubelet takes no names here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grpc {
    pub(crate) port: u16,
    #[serde(default)]
    pub(crate) service: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TcpSocket {
    pub(crate) port: Port,
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
