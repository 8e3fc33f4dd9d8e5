//! Where a crate lives says its name and what it may use.

use std::collections::HashMap;
use std::path::Path;

use crate::metadata::{Dependency, Metadata, Package};

/// The rings, innermost first: a ring may use only those above it in this list.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Ring {
    Core,
    Api,
    Ports,
    Kit,
    Connectors,
    Services,
    App,
    Dev,
    /// The test crate at the workspace's top, which may see everything.
    Tests,
}

/// One member: its place in the tree and what follows from it.
struct Place<'a> {
    package: &'a Package,
    ring: Ring,
}

pub(super) fn violations(metadata: &Metadata) -> Vec<String> {
    let mut found = Vec::new();
    let mut places = HashMap::new();
    for package in metadata.members() {
        let path = folder(metadata, package);
        match ring_of(&path) {
            Some(ring) => {
                places.insert(package.name.as_str(), Place { package, ring });
                found.extend(misnamed(package, &path));
            }
            None => found.push(format!("{} lives in {path}, which is in no ring", package.name)),
        }
    }
    let mut ordered: Vec<&Place> = places.values().collect();
    ordered.sort_by_key(|place| (place.ring, &place.package.name));
    for place in ordered {
        found.extend(forbidden_uses(place, &places));
    }
    found
}

/// The ring of a member, from its folder relative to the workspace.
pub(super) fn ring_of(folder: &str) -> Option<Ring> {
    if folder == "tests" || folder.starts_with("tests/") {
        return Some(Ring::Tests);
    }
    let mut parts = folder.strip_prefix("crates/")?.split('/');
    let (ring, has_child) = (parts.next()?, parts.next().is_some());
    match (ring, has_child) {
        ("core", true) => Some(Ring::Core),
        ("api", false) => Some(Ring::Api),
        ("ports", false) => Some(Ring::Ports),
        ("kit", false) => Some(Ring::Kit),
        ("connectors", true) => Some(Ring::Connectors),
        ("services", true) => Some(Ring::Services),
        ("app", true) => Some(Ring::App),
        ("dev", true) => Some(Ring::Dev),
        _ => None,
    }
}

/// A member's folder relative to the workspace, with `/` between its parts.
pub(super) fn folder(metadata: &Metadata, package: &Package) -> String {
    let manifest = Path::new(&package.manifest_path);
    let folder = manifest.parent().unwrap_or(manifest);
    let relative = folder.strip_prefix(&metadata.workspace_root).unwrap_or(folder);
    relative.to_string_lossy().replace('\\', "/")
}

fn misnamed(package: &Package, folder: &str) -> Option<String> {
    let last = folder.rsplit('/').next().unwrap_or(folder);
    let expected = match folder {
        "crates/app/signalbox" | "crates/dev/xtask" => last.to_owned(),
        _ => format!("signalbox-{last}"),
    };
    (package.name != expected)
        .then(|| format!("{} lives in {folder}, so its name must be {expected}", package.name))
}

fn forbidden_uses(user: &Place, places: &HashMap<&str, Place>) -> Vec<String> {
    let ours = user.package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    ours.filter_map(|dependency| {
        let used = places.get(dependency.name.as_str())?;
        let reason = objection(user.ring, used.ring, dependency)?;
        Some(format!("{} may not use {}: {reason}", user.package.name, used.package.name))
    })
    .collect()
}

/// What connectors share: an implementation of no port, with nothing of any connector in it.
const SHARED_BY_CONNECTORS: &str = "signalbox-sql";

/// Why a crate of ring `user` may not depend on one of ring `used`, if it may not.
fn objection(user: Ring, used: Ring, dependency: &Dependency) -> Option<&'static str> {
    use Ring::{App, Connectors, Core, Dev, Services, Tests};
    match (user, used) {
        (Tests | Dev, _) => None,
        (Services, Services) => Some("services reach each other through generated clients only"),
        // Tests may use the test kit, the simulated vendors and real stores.
        _ if dependency.is_dev() => None,
        (Services, Connectors) => Some("a service takes ports; the app hands it the connectors"),
        (_, Dev) => Some("dev crates are for tests: make it a dev-dependency"),
        (Core, Core) | (App, App) => None,
        (Connectors, Connectors) if dependency.name == SHARED_BY_CONNECTORS => None,
        (user, used) if used < user => None,
        (user, used) if used == user => Some("crates of this ring stand side by side"),
        _ => Some("a ring may use only the rings inside it"),
    }
}
