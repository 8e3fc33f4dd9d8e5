//! What the environment leaves open, and what it leaves out of reach.

use super::{Findings, content, in_file, stores};
use crate::{
    access::AdminKey,
    catalog::{Catalog, VendorSettings, unreadable_address},
    config::{
        AuthenticationConfig, BaseUrl, Config, Environment, KeySource, VendorConfig, cache, tree::Cursor,
        variables,
    },
};
use http::HeaderValue;
use signalbox_types::VendorKind;
use std::collections::HashSet;

/// Marks the vendors whose key or address the operator's own file names: those are meant to be called.
pub(in crate::config) fn mark_meant(config: &mut Config, root: &Cursor<'_>) {
    for (name, vendor) in &mut config.vendors {
        let at = root.key("vendors").key(name);
        vendor.meant = ["api_key", "base_url"].into_iter().any(|field| in_file(&at.key(field)));
    }
}

/// Vendors that the file names without their key, aliases without a vendor, variables that nobody reads.
pub(in crate::config) fn check_reach(
    config: &Config,
    catalog: &Catalog,
    env: &Environment,
    root: &Cursor<'_>,
    findings: &mut Findings,
) {
    check_listen(config, env, root, findings);
    stores::check(config, env, root, findings);
    let served = catalog.vendors(env);
    let reachable: HashSet<_> = served.iter().map(|vendor| &*vendor.name).collect();
    for (name, vendor) in &config.vendors {
        let at = root.key("vendors").key(name);
        if vendor.simulate != Some(true) {
            check_address(vendor, env, &at, findings);
        }
        if in_file(&at) && !reachable.contains(name.as_str()) {
            let alone = if served.iter().any(|vendor| !vendor.simulated) { "" } else { ALONE };
            findings.warn(&at, format!("is left out: {}{alone}", what_is_missing(vendor)));
        } else if has_lost_key(vendor, env) && in_file(&at.key("api_key")) {
            findings
                .warn(&at.key("api_key"), format!("{}: it is called without a key", what_is_missing(vendor)));
        }
    }
    for vendor in &served {
        let source = config.vendors.get(&*vendor.name).and_then(|config| config.api_key.as_ref());
        check_key(vendor, source, env, &root.key("vendors").key(&vendor.name).key("api_key"), findings);
    }
    variables::check(config, env, root, findings);
    for (name, alias) in catalog.aliases() {
        let at = root.key("aliases").key(name);
        if in_file(&at) && !alias.targets.iter().any(|target| reachable.contains(&*target.vendor)) {
            findings.warn(&at, "none of its models is at a configured vendor");
        }
    }
    cache::check_secret(config, env, root, findings);
    content::check_keys(config, env, root, findings);
}

/// What becomes of a process that has nobody to call.
const ALONE: &str = "; no other vendor can be called, so a process with the role `adapter` does not start here (`simulate: \
                     true` would make answers up)";

/// An address that somebody wrote is never thrown away: what it was meant for would be left out, or simulated.
fn check_address(vendor: &VendorConfig, env: &Environment, at: &Cursor<'_>, findings: &mut Findings) {
    if let Some(variable) = unreadable_address(vendor, env) {
        let message = format!(
            "{variable} in the environment is not an http or https address with a port from 1 to 65535 and without \
             user and query, as in http://10.0.0.1:8000"
        );
        findings.fault(&at.key("base_url"), message);
    }
}

/// Such a key would keep a process that calls vendors from starting.
fn check_key(
    vendor: &VendorSettings,
    source: Option<&KeySource>,
    env: &Environment,
    at: &Cursor<'_>,
    findings: &mut Findings,
) {
    let (Some(key), Some(source)) = (&vendor.key, source) else { return };
    if HeaderValue::from_bytes(key.expose().as_bytes()).is_err() {
        let place = source.place(env);
        findings.fault(
            at,
            format!("the key in {place} holds a line break or another character that no header can carry"),
        );
    }
}

/// A server of one's own is called without its key, if need be.
fn has_lost_key(vendor: &VendorConfig, env: &Environment) -> bool {
    let Some(KeySource { env: Some(names), .. }) = &vendor.api_key else { return false };
    matches!(vendor.kind, VendorKind::Ollama | VendorKind::OpenaiCompatible)
        && vendor.simulate != Some(true)
        && env.first(names.as_slice().iter().map(String::as_str)).is_none()
}

/// An address that others reach where nobody has to say who he is.
fn check_listen(config: &Config, env: &Environment, root: &Cursor<'_>, findings: &mut Findings) {
    let address = config.server.listen;
    let authenticated = config.access.authentication == AuthenticationConfig::Required
        || env.get(AdminKey::VARIABLE).is_some();
    if !address.ip().is_loopback() && !authenticated {
        let message = format!(
            "{address} can be reached from other machines, and until there is an API key callers are not \
             authenticated; set {} in the environment",
            AdminKey::VARIABLE
        );
        findings.warn(&root.key("server").key("listen"), message);
    }
}

pub(in crate::config) fn what_is_missing(vendor: &VendorConfig) -> String {
    let own_server = matches!(vendor.kind, VendorKind::Ollama | VendorKind::OpenaiCompatible);
    match (&vendor.base_url, &vendor.api_key) {
        (Some(BaseUrl::Environment(names)), _) if own_server || vendor.api_key.is_none() => {
            format!("the environment has no http or https address in {}", names.env.as_slice().join(" or "))
        }
        (_, Some(KeySource { env: Some(names), .. })) => {
            format!("the environment has no {}", names.as_slice().join(" or "))
        }
        (_, Some(KeySource { file: Some(path), .. })) => format!("there is no key in {}", path.display()),
        _ => "it has neither a key nor an address of its own".to_owned(),
    }
}
