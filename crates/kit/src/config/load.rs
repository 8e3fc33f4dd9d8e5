//! From a file to a checked configuration and its catalogue.

use super::{
    Config, ConfigErrors, Environment, KeySource, Located, Origin, Position, Problem, Secret, VendorConfig,
    check,
    input::read_text,
    overlay::overlay,
    prune, schema,
    shape::convert,
    tree::{Cursor, Node, Value as Yaml, parse},
};
use crate::catalog::{Catalog, DEFAULT_CATALOG, VendorSettings};
use serde::Deserialize;
use signalbox_pricing::Day;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A good configuration.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The file over the built-in catalogue, as typed values.
    pub config: Arc<Config>,
    /// What requests are resolved against.
    pub catalog: Arc<Catalog>,
    /// What deserves a look, though it works.
    pub warnings: Vec<Problem>,
    /// The operator's file.
    pub file: Option<Arc<PathBuf>>,
    /// The file over the built-in catalogue, as it was written: where what is.
    tree: Arc<Node>,
}

impl Loaded {
    /// A problem with a field that is found only later, at its place; `field` is as in `mtls.ca_file`.
    pub fn problem(&self, field: &str, message: impl Into<String>) -> Problem {
        field.split('.').fold(Cursor::root(&self.tree), |at, key| at.key(key)).problem(message)
    }

    /// The vendors that a process serves with which calls them.
    ///
    /// # Errors
    /// Where the file names a key or an address that is not there, and nobody else can be called: such a process would
    /// refuse every request, and that is noticed too late.
    pub fn vendors_to_call(&self, env: &Environment) -> Result<Vec<VendorSettings>, ConfigErrors> {
        let vendors = self.catalog.vendors(env);
        let is_lost = |name: &str, config: &VendorConfig| {
            config.meant
                && config.simulate != Some(true)
                && !vendors.iter().any(|vendor| &*vendor.name == name)
        };
        let lost: Vec<_> =
            self.config.vendors.iter().filter(|(name, config)| is_lost(name, config)).collect();
        if lost.is_empty() || vendors.iter().any(|vendor| !vendor.simulated) {
            return Ok(vendors);
        }
        let root = Cursor::root(&self.tree);
        let told = lost.into_iter().map(|(name, config)| {
            let message = format!(
                "{}; no other vendor can be called, and answers are made up only where `simulate: true` says so",
                check::what_is_missing(config)
            );
            root.key("vendors").key(name).problem(message)
        });
        Err(ConfigErrors::new(self.file.clone(), told.collect()))
    }

    /// The warnings as lines of the form `file:line:column: field: message`.
    pub fn warning_lines(&self) -> impl Iterator<Item = String> {
        let file = self.file.as_deref();
        self.warnings.iter().map(move |problem| Located { problem, file }.to_string())
    }
}

/// Loads a configuration file, or the built-in catalogue alone where none is named.
///
/// `today` decides which models are already shut down, for warnings; the catalogue itself goes by the date of each
/// request.
pub fn load(path: Option<&Path>, env: &Environment, today: Day) -> Result<Loaded, ConfigErrors> {
    let Some(path) = path else { return load_text("", None, env, today) };
    let text = read_configuration(path).map_err(|message| {
        let problem = Problem { at: Position::START, field: String::new(), message };
        ConfigErrors::new(Some(Arc::new(path.to_owned())), vec![problem])
    })?;
    load_text(&text, Some(path), env, today)
}

/// A file without content is half written or lost far more often than meant; so is one of which only comments are left.
fn read_configuration(path: &Path) -> Result<String, String> {
    let text = read_text(path)?;
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    match lines.all(|line| line.is_empty() || line.starts_with('#') || matches!(line, "---" | "...")) {
        true => Err("is empty; write `{}` for the built-in defaults".to_owned()),
        false => Ok(text),
    }
}

/// Loads a configuration from its text; `path` names it in messages. Key files that it names are read.
pub fn load_text(
    text: &str,
    path: Option<&Path>,
    env: &Environment,
    today: Day,
) -> Result<Loaded, ConfigErrors> {
    let file = path.map(|path| Arc::new(path.to_owned()));
    let mut problems = Vec::new();
    let loaded = read(text, env, today, &mut problems);
    match loaded {
        Some((config, catalog, mut warnings, tree)) if problems.is_empty() => {
            warnings.sort();
            let (config, catalog, tree) = (Arc::new(config), Arc::new(catalog), Arc::new(tree));
            Ok(Loaded { config, catalog, warnings, file, tree })
        }
        _ => Err(ConfigErrors::new(file, problems)),
    }
}

fn read(
    text: &str,
    env: &Environment,
    today: Day,
    problems: &mut Vec<Problem>,
) -> Option<(Config, Catalog, Vec<Problem>, Node)> {
    let built_in = parse(DEFAULT_CATALOG, Origin::BuiltIn, problems)?;
    let over = parse(text, Origin::File, problems)?;
    if !matches!(over.value, Yaml::Map(_)) {
        problems.push(
            Cursor::root(&over).problem("must be a mapping of sections such as `vendors:` and `aliases:`"),
        );
        return None;
    }
    let alone = over
        .get("extends")
        .is_some_and(|entry| matches!(&entry.node.value, Yaml::Scalar(word) if word == "none"));
    let base = if alone { Node::empty_map(Origin::File) } else { built_in.clone() };
    let tree = overlay(base, over);
    let mut config = typed(&tree, problems)?;
    check::mark_meant(&mut config, &Cursor::root(&tree));
    prune::drop_dangling_defaults(&mut config, &Cursor::root(&tree));
    let mut findings = check::Findings::default();
    check::check(&config, &Cursor::root(&tree), &Cursor::root(&built_in), today, &mut findings);
    let keys = read_keys(&config, &Cursor::root(&tree), &mut findings.warnings);
    problems.append(&mut findings.problems);
    if !problems.is_empty() {
        return None;
    }
    let catalog = Catalog::build(&config, keys, &[DEFAULT_CATALOG, text]);
    check::check_reach(&config, &catalog, env, &Cursor::root(&tree), &mut findings);
    problems.append(&mut findings.problems);
    Some((config, catalog, findings.warnings, tree))
}

/// The typed configuration of a tree of the right shape.
fn typed(tree: &Node, problems: &mut Vec<Problem>) -> Option<Config> {
    let root = Cursor::root(tree);
    let json = convert(&root, &schema::whole(), problems);
    if !problems.is_empty() {
        return None;
    }
    // The shape was checked, so this fails only where the types ask for more than their schema says.
    Config::deserialize(json).map_err(|error| problems.push(root.problem(error.to_string()))).ok()
}

/// The secrets in the files that vendors and moderation endpoints name. A missing one leaves them without a key.
fn read_keys(config: &Config, root: &Cursor<'_>, warnings: &mut Vec<Problem>) -> BTreeMap<PathBuf, Secret> {
    let mut keys = BTreeMap::new();
    let vendors =
        config.vendors.iter().map(|(name, vendor)| (root.key("vendors").key(name), &vendor.api_key));
    let moderations = config.content_policies.iter().filter_map(|(name, policy)| {
        let at = root.key("content_policies").key(name).key("moderation");
        Some((at, &policy.moderation.as_ref()?.api_key))
    });
    for (at, key) in vendors.chain(moderations) {
        let Some(KeySource { file: Some(path), .. }) = key else { continue };
        match read_text(path) {
            Ok(text) if !text.trim().is_empty() => {
                keys.insert(path.clone(), Secret::new(text.trim()));
            }
            outcome => {
                let reason = outcome.err().unwrap_or_else(|| "is empty".to_owned());
                let field = at.key("api_key").key("file");
                warnings.push(field.problem(format!("no key: {} {reason}", path.display())));
            }
        }
    }
    keys
}
