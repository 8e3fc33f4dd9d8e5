//! The file's section about who may call.
use schemars::JsonSchema;
use serde::Deserialize;

/// Who may call. API keys themselves are made and revoked while running, by `signalbox key`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessConfig {
    /// When callers need an API key.
    pub authentication: AuthenticationConfig,
    /// Whether tools may ask what the contract is (server reflection). Nobody needs a key for that.
    pub reflection: bool,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self { authentication: AuthenticationConfig::default(), reflection: true }
    }
}

/// When callers need an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthenticationConfig {
    /// From the first API key on, or where the environment has a SIGNALBOX_ADMIN_KEY.
    #[default]
    Auto,
    /// Always.
    Required,
}
