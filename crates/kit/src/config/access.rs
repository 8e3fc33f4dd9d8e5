//! The file's section about who may call.

use super::values::HumanDuration;
use schemars::JsonSchema;
use serde::Deserialize;

/// Who may call. API keys themselves are made and revoked while running, by `signalbox key`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessConfig {
    /// When callers need an API key.
    pub authentication: AuthenticationConfig,
    /// How long a process that can reach no budget service goes on with API keys that it knows. Meanwhile it does not hear
    /// of a key that is revoked; with 0s it refuses everybody instead.
    pub key_grace: HumanDuration,
    /// Whether tools may ask what the contract is (server reflection). Nobody needs a key for that.
    pub reflection: bool,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            authentication: AuthenticationConfig::default(),
            key_grace: HumanDuration::secs(60),
            reflection: true,
        }
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
