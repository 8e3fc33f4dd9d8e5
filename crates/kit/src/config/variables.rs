//! Variables of the environment that look like a vendor's or our own and are not.

use super::{
    BaseUrl, CacheConfig, Config, Environment, KeySource, OneOrMany, VendorConfig, check::Findings,
    nearest::distance, tree::Cursor,
};
use crate::access::AdminKey;
use std::collections::BTreeSet;

/// Warns of names that were probably meant for one that is not there.
pub(super) fn check(config: &Config, env: &Environment, root: &Cursor<'_>, findings: &mut Findings) {
    check_own(env, root, findings);
    let known: BTreeSet<&str> = config.vendors.values().flat_map(of).flat_map(|(_, names)| names).collect();
    for (name, vendor) in config.vendors.iter().filter(|(_, vendor)| vendor.simulate != Some(true)) {
        let at = root.key("vendors").key(name);
        for (field, wanted) in of(vendor) {
            if env.first(wanted.iter().copied()).is_some() {
                continue;
            }
            let meant = |found: &str| wanted.iter().find(|wanted| is_slip(found, wanted)).copied();
            for found in env.names().filter(|found| !known.contains(found)) {
                if let Some(meant) = meant(found) {
                    findings.warn(&at.key(field), nothing_reads(found, meant));
                }
            }
        }
    }
}

/// Those of Signalbox itself that change what is served, each with the section that it belongs to.
const OWN: [(&str, &str); 4] = [
    (AdminKey::VARIABLE, "access"),
    (CacheConfig::SECRET_VARIABLE, "cache"),
    ("SIGNALBOX_CONFIG", ""),
    ("SIGNALBOX_DATA_DIR", ""),
];
/// Those that its clients read.
const CLIENTS: [&str; 3] = ["SIGNALBOX_API_KEY", "SIGNALBOX_CA_FILE", "SIGNALBOX_SERVER"];

fn check_own(env: &Environment, root: &Cursor<'_>, findings: &mut Findings) {
    let known = |found: &str| CLIENTS.contains(&found) || OWN.iter().any(|(name, _)| *name == found);
    for (meant, section) in OWN.into_iter().filter(|(meant, _)| env.get(meant).is_none()) {
        for found in env.names().filter(|found| !known(found) && is_slip(found, meant)) {
            let at = if section.is_empty() { root.clone() } else { root.key(section) };
            findings.warn(&at, nothing_reads(found, meant));
        }
    }
}

fn nothing_reads(found: &str, meant: &str) -> String {
    format!("nothing reads {found} in the environment (did you mean `{meant}`?)")
}

/// The variables that hold a vendor's key and address.
fn of(vendor: &VendorConfig) -> Vec<(&'static str, Vec<&str>)> {
    let key = match &vendor.api_key {
        Some(KeySource { env: Some(names), file: None }) => Some(names),
        _ => None,
    };
    let address = match &vendor.base_url {
        Some(BaseUrl::Environment(names)) => Some(&names.env),
        _ => None,
    };
    [("api_key", key), ("base_url", address)].into_iter().filter_map(named).collect()
}

fn named<'v>(
    (field, names): (&'static str, Option<&'v OneOrMany<String>>),
) -> Option<(&'static str, Vec<&'v str>)> {
    Some((field, names?.as_slice().iter().map(String::as_str).collect()))
}

/// Whether one name is written where the other was meant: the same words put together otherwise, other words for a key
/// or an address, or a letter or two wrong. Short names are too near to each other for that.
fn is_slip(found: &str, meant: &str) -> bool {
    let (found, meant) = (found.to_ascii_uppercase(), meant.to_ascii_uppercase());
    let kind = KINDS.into_iter().find(|words| ends_in(&meant, words)).unwrap_or_default();
    let stem = joined(&meant, kind);
    let allowed = if stem.len() >= 5 { 2 } else { 1 };
    OTHER_NAMES.contains(&(&found, &meant))
        || joined(&found, &[]) == joined(&meant, &[])
        || (stem.len() >= 3 && ends_in(&found, kind) && joined(&found, kind) == stem)
        || (meant.len() >= 8 && distance(&found, &meant) <= allowed)
}

/// Names by which vendors' keys go elsewhere: after the company, or after the model.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    ("CLAUDE_API_KEY", "ANTHROPIC_API_KEY"),
    ("GROK_API_KEY", "XAI_API_KEY"),
];

/// Words that say what kind of thing a variable holds: a key, or an address.
const KINDS: [&[&str]; 2] =
    [&["API", "APIKEY", "KEY", "TOKEN", "SECRET"], &["BASE", "URL", "HOST", "ADDRESS"]];

fn ends_in(name: &str, words: &[&str]) -> bool {
    name.rsplit('_').next().is_some_and(|last| words.contains(&last))
}

/// The words of a name but those, without what is between them.
fn joined(name: &str, without: &[&str]) -> String {
    name.split(['_', '-']).filter(|word| !without.contains(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn slips_are_known_and_other_peoples_variables_are_not() {
        for found in [
            "OPENAI_APIKEY",
            "OPEN_AI_API_KEY",
            "openai_api_key",
            "OPENAI_KEY",
            "OPENAI_API_KYE",
            "OPENAI_TOKEN",
        ] {
            assert!(is_slip(found, "OPENAI_API_KEY"), "{found}");
        }
        for found in
            ["OPENAI_ORG_ID", "FAL_API_KEY", "OPENAI_BASE_URL", "SIGNALBOX_ADMIN_KEY", "AI_API_KEY_2", "PATH"]
        {
            assert!(!is_slip(found, "OPENAI_API_KEY") && !is_slip(found, "XAI_API_KEY"), "{found}");
        }
        assert!(is_slip("OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_URL"));
        assert!(!is_slip("OPENAI_BASE_URL", "OPENAI_COMPATIBLE_URL"));
    }
}
