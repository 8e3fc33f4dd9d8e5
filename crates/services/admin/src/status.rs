//! The state of the configuration, on the wire.

use crate::service::Dependencies;
use signalbox_api::v1;

/// The configuration in force, and how the last reload went.
pub(crate) fn status(dependencies: &Dependencies) -> v1::ConfigStatus {
    let reload = dependencies.config.status();
    let source = dependencies.source.as_ref();
    v1::ConfigStatus {
        source: source.map(|path| path.display().to_string()).unwrap_or_default(),
        catalog_version: reload.version.clone(),
        loaded_at: Some(reload.loaded_at.into()),
        last_attempt_at: Some(reload.last_attempt_at.into()),
        last_error: reload.last_error.clone().unwrap_or_default(),
        reloads: reload.reloads,
        failures: reload.failures,
        warnings: dependencies.config.loaded().warning_lines().collect(),
        roles: dependencies.roles.clone(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
