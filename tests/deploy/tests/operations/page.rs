//! The page itself: what it relies on, points to and tells people to type is there.

use signalbox_deploy::{documents, read};
use signalbox_testkit::{built, workspace};
use std::{collections::BTreeSet, fs, path::Path, process::Command};

const PAGE: &str = "docs/operations.md";

/// What stands between two marks, each time.
fn between<'t>(text: &'t str, start: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split_once(end)).map(|(inside, _)| inside)
}

/// Rust's sources below a folder, in one text.
fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, all);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&fs::read_to_string(&entry).unwrap());
        }
    }
}

#[test]
fn every_test_that_it_relies_on_is_there() {
    let (page, mut code) = (read(PAGE), String::new());
    ["crates", "tests"].iter().for_each(|folder| sources(&workspace().join(folder), &mut code));
    let names = between(&page, "<!--", "-->").flat_map(|comment| comment.split(','));
    let names: BTreeSet<&str> = names.map(str::trim).collect();
    let missing: Vec<_> = names.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "there is no such test: {missing:?}");
    assert!(names.len() > 40, "only {} tests were found in the page", names.len());
}

#[test]
fn every_alert_that_it_names_is_raised_by_a_rule() {
    let page = read(PAGE);
    let rules = read("deploy/prometheus/alerts.yaml");
    let named: BTreeSet<&str> =
        between(&page, "`Signalbox", "`").filter(|rest| !rest.contains(' ')).collect();
    for name in &named {
        assert!(rules.contains(&format!("alert: Signalbox{name}\n")), "Signalbox{name} is raised by no rule");
    }
    assert!(named.len() > 20, "{named:?}");
    assert_eq!(documents(&rules).len(), 1);
}

#[test]
fn every_command_that_it_shows_is_one_of_the_program() {
    let page = read(PAGE).replace('\n', " ");
    let shown = between(&page, "`signalbox ", "`");
    let mut seen = BTreeSet::new();
    for command in shown {
        // The words before the first value, flag or place to fill in.
        let words = command.split_whitespace();
        let plain =
            |word: &&str| word.chars().all(|character| character.is_ascii_lowercase() || character == '-');
        seen.insert(words.take_while(|word| plain(word) && !word.starts_with('-')).collect::<Vec<_>>());
    }
    for words in &seen {
        let output = Command::new(built("signalbox")).args(words).arg("--help").output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(seen.len() > 10, "{seen:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let page = read(PAGE);
    for link in between(&page, "](", ")").filter(|link| !link.starts_with("http")) {
        let (file, place) = link.split_once('#').unwrap_or((link, ""));
        let path = if file.is_empty() { workspace().join(PAGE) } else { workspace().join("docs").join(file) };
        assert!(path.exists(), "{link}");
        let heading = |line: &str| line.starts_with('#') && slug(line) == place;
        let text = if path.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
        assert!(place.is_empty() || text.lines().any(heading), "{link} leads to no heading");
    }
}

/// How a heading is linked to.
fn slug(line: &str) -> String {
    let kept = |character: &char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_');
    line.trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}
