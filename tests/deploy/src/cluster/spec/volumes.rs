//! Volumes, and where a container sees them.

use serde::{Deserialize, de::IgnoredAny};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VolumeMount {
    pub(crate) name: String,
    pub(crate) mount_path: String,
    #[serde(default)]
    pub(crate) read_only: bool,
    #[serde(default)]
    pub(crate) sub_path: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Volume {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) config_map: Option<Projection>,
    #[serde(default)]
    pub(crate) secret: Option<Projection>,
    #[serde(default)]
    pub(crate) projected: Option<Projected>,
    #[serde(default)]
    pub(crate) empty_dir: Option<IgnoredAny>,
    #[serde(default)]
    pub(crate) persistent_volume_claim: Option<Claim>,
}

/// Keys of one secret or config map, as files.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Projection {
    /// Config maps and projected secrets are named so, and secrets otherwise.
    #[serde(alias = "secretName")]
    pub(crate) name: String,
    /// All keys where there are none.
    #[serde(default)]
    pub(crate) items: Vec<Item>,
    #[serde(default)]
    pub(crate) default_mode: Option<u32>,
    #[serde(default)]
    pub(crate) optional: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    pub(crate) key: String,
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) mode: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Projected {
    pub(crate) sources: Vec<Source>,
    #[serde(default)]
    pub(crate) default_mode: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Source {
    ConfigMap(Projection),
    Secret(Projection),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) claim_name: String,
    #[serde(default)]
    pub(crate) read_only: bool,
}
