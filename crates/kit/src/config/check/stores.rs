//! Files of SQLite: each store has one of its own.

use super::{Findings, in_file};
use crate::config::{Config, Environment, data_dir, tree::Cursor};
use std::{
    fs,
    path::{self, Path, PathBuf},
};

/// Two stores in one file would each find tables that are not theirs.
pub(super) fn check(config: &Config, env: &Environment, root: &Cursor<'_>, findings: &mut Findings) {
    let files = files(config, env);
    for (section, file) in &files {
        let at = root.key(section).key("store").key("sqlite").key("path");
        let other = files.iter().find(|(other, theirs)| other != section && theirs == file);
        if let Some((other, _)) = other.filter(|_| in_file(&at)) {
            let message =
                format!("{} is the file of `{other}.store`, too; each needs its own", file.display());
            findings.fault(&at, message);
        }
    }
}

/// The files that are in use, each with its section.
fn files(config: &Config, env: &Environment) -> Vec<(&'static str, PathBuf)> {
    let (budgets, batch, usage) = (&config.budgets.store, &config.batch.store, &config.usage.store);
    let stores = [
        ("budgets", budgets.postgres.is_none(), budgets.sqlite.as_ref().map(|file| &file.path), "budgets.db"),
        ("batch", batch.postgres.is_none(), batch.sqlite.as_ref().map(|file| &file.path), "batches.db"),
        ("usage", usage.clickhouse.is_none(), usage.sqlite.as_ref().map(|file| &file.path), "usage.db"),
    ];
    let in_use = stores.into_iter().filter(|(_, in_use, ..)| *in_use);
    in_use
        .map(|(section, _, path, default)| {
            let path = path.and_then(Option::as_ref).cloned();
            (section, whole(&path.unwrap_or_else(|| data_dir(env).join(default))))
        })
        .collect()
}

/// The same path for the same file, however it is written.
fn whole(path: &Path) -> PathBuf {
    fs::canonicalize(path).or_else(|_| path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
