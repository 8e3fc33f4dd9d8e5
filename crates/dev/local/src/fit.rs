//! Fitting the roles of a system that runs for somebody who has it for a while, as a test of the end-to-end suite does.

use crate::{Part, Purpose, Stack, down, process, roles, up::together};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What is different for a while.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Laid over the configuration of every role, over all else.
    pub overlay: Value,
    /// Of every role, in place of the vendors' keys.
    pub environment: BTreeMap<String, String>,
    /// In place of the cache's secret, so that nothing is found that was kept before.
    pub cache_secret: String,
}

/// Restarts all roles at once with what is different from now on; with nothing, as they were made.
///
/// # Errors
/// A role does not end, or does not start.
pub async fn fit(stack: &mut Stack, fit: Option<Fit>) -> Result<(), String> {
    let _lock = stack.folder().lock()?;
    stack.set_fit(fit)?;
    down::end(stack.folder(), &Part::roles().collect::<Vec<_>>()).await;
    match Part::roles().find(|part| process::find(stack.folder(), *part).is_some()) {
        Some(part) => Err(format!("{part} does not end")),
        None => together(stack, Part::roles(), &[]).await,
    }
}

/// Gives the roles another configuration, which they take over while they run.
///
/// # Errors
/// A file cannot be written.
pub fn refit(stack: &mut Stack, fit: Fit) -> Result<(), String> {
    let _lock = stack.folder().lock()?;
    stack.set_fit(Some(fit))?;
    Part::roles().try_for_each(|part| roles::prepare(stack, part).map(drop))
}

/// What whoever has the system must know: its operator's key, and where each role listens and keeps what.
pub fn facts(stack: &Stack) -> Value {
    let parts: Map<String, Value> = Part::roles().map(|part| (part.to_string(), of(stack, part))).collect();
    let admin_key = stack.fit().and_then(|fit| fit.environment.get(roles::ADMIN_KEY));
    json!({"admin_key": admin_key.unwrap_or_else(|| &stack.secrets().admin_key), "parts": parts})
}

fn of(stack: &Stack, part: Part) -> Value {
    let (folder, at) = (stack.folder(), |purpose| stack.ports().address(part, purpose).to_string());
    json!({
        "clients": at(Purpose::Clients),
        "internal": stack.mtls().then(|| at(Purpose::Internal)),
        "health": stack.mtls().then(|| at(Purpose::Health)),
        "metrics": at(Purpose::Metrics),
        "config": folder.config(part),
        "log": folder.log(part),
        "data": folder.data(part),
        "pid": folder.pid(part),
    })
}
