//! Where variables come from.

use serde::{Deserialize, de::IgnoredAny};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EnvVar {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) value_from: Option<ValueFrom>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) enum ValueFrom {
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
pub(crate) struct FieldRef {
    pub(crate) field_path: String,
    #[serde(default)]
    api_version: IgnoredAny,
}

/// One key of a secret or a config map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRef {
    pub(crate) name: String,
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) optional: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EnvFrom {
    #[serde(default)]
    pub(crate) prefix: String,
    #[serde(default)]
    pub(crate) config_map_ref: Option<Reference>,
    #[serde(default)]
    pub(crate) secret_ref: Option<Reference>,
}

/// A whole secret or config map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reference {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) optional: bool,
}
