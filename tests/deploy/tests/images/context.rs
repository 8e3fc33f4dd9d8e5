//! What a build sees of the repository.

use signalbox_deploy::read;
use signalbox_testkit::workspace;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// .dockerignore: of the rules that a path or a folder above it matches, the last one counts.
pub(super) struct Context(Vec<(bool, Vec<String>)>);

impl Context {
    pub(super) fn read() -> Self {
        Self::parse(&read(".dockerignore"))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rule = |line: &str| {
            let (kept, pattern) = line.strip_prefix('!').map_or((false, line), |pattern| (true, pattern));
            (kept, components(pattern))
        };
        Self(lines.map(rule).collect())
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let path = components(path);
        let matches = |pattern: &[String]| (1..=path.len()).any(|length| matched(pattern, &path[..length]));
        self.0.iter().rev().find(|(_, pattern)| matches(pattern)).is_none_or(|(kept, _)| *kept)
    }

    /// The files in it at or below a path, named from the root of the repository.
    pub(super) fn files(&self, path: &str) -> Vec<PathBuf> {
        let whole = workspace().join(path);
        if !self.has(path) {
            return Vec::new();
        }
        if whole.is_file() {
            return vec![PathBuf::from(path)];
        }
        let entries = fs::read_dir(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.flat_map(|name| self.files(&format!("{path}/{name}"))).collect()
    }
}

fn components(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn matched(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            matched(rest, path) || path.split_first().is_some_and(|(_, below)| matched(pattern, below))
        }
        (Some((first, rest)), Some((name, below))) => fits(first, name) && matched(rest, below),
        _ => false,
    }
}

/// A name, of which `*` stands for any part.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|after| {
            (0..=after.len()).filter(|at| after.is_char_boundary(*at)).any(|at| fits(rest, &after[at..]))
        }),
    }
}

/// Copies files of the repository to another place.
pub(super) fn copy(files: &[PathBuf], to: &Path) {
    for file in files {
        let target = to.join(file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(workspace().join(file), target)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

#[test]
fn the_last_rule_that_fits_a_path_or_what_it_is_in_counts() {
    let context = Context::parse("*\n!a\n**/x\na/*.key\n");
    for kept in ["a", "a/b/c", "a/b/c.key"] {
        assert!(context.has(kept), "{kept}");
    }
    for left in ["b", "a/x", "a/b/x/c", "a/my.key"] {
        assert!(!context.has(left), "{left}");
    }
}
