//! Commands that pages show: the program takes them as they are printed.

use super::pages::blocks;
use signalbox_deploy::read;
use signalbox_testkit::{built, workspace};
use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

/// Nobody listens there.
const NOBODY: &str = "http://127.0.0.1:1";
/// What the program ends with where it does not understand its arguments.
const USAGE_ERROR: i32 = 2;
/// What somebody writes in place of these words; others may be anything.
const FILLED_IN: [(&str, &str); 7] = [
    ("BACKUP", "2026-11-01"),
    ("EUROS", "1"),
    ("N", "500"),
    ("NOW", "2026-11-02"),
    ("NUMBER", "1"),
    ("REASON", "malformed"),
    ("VENDOR", "openai"),
];

/// The words of a line of a shell, up to a comment or another command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars().chain([' ']) {
        match (c, quote) {
            ('#' | '|' | ';' | '>' | '&', None) if word.is_none() => break,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(end)) if c == end => quote = None,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words
}

/// The arguments of a line that calls the program, perhaps after a prompt, variables or `docker compose exec SERVICE`.
fn arguments(line: &str) -> Option<Vec<String>> {
    let words = words(line);
    let at = words.iter().position(|word| word == "signalbox")?;
    let is_setting = |word: &String| word == "$" || word.contains('=');
    let before: Vec<&str> =
        words.iter().take(at).filter(|word| !is_setting(word)).map(|word| &**word).collect();
    let is_called = matches!(before.as_slice(), [] | ["docker", "compose", "exec", _]);
    is_called.then(|| words.iter().skip(at + 1).map(|word| filled_in(word)).collect())
}

fn filled_in(word: &str) -> String {
    let known = FILLED_IN.iter().find(|(place, _)| *place == word).map(|(_, with)| *with);
    let as_is = || if word.starts_with("http://") { NOBODY } else { word };
    known.unwrap_or_else(as_is).to_owned()
}

/// Those between fences, in whatever language, and those in the text that have more than a name.
fn commands(page: &str) -> Vec<Vec<String>> {
    let text = read(page).replace("\\\n", " ");
    let fenced = ["", "sh"].into_iter().flat_map(|language| blocks(&text, language));
    let mut found: Vec<_> =
        fenced.flat_map(|block| block.lines().filter_map(arguments).collect::<Vec<_>>()).collect();
    let prose: String = text.split("```").step_by(2).collect();
    let quoted = prose.split('`').skip(1).step_by(2).map(|inside| inside.replace('\n', " "));
    let is_whole = |arguments: &Vec<String>| {
        !arguments.iter().all(|word| is_name(word)) && !arguments.iter().any(|word| word.contains('…'))
    };
    found.extend(
        quoted
            .filter(|inside| inside.starts_with("signalbox "))
            .filter_map(|inside| arguments(&inside))
            .filter(is_whole),
    );
    found
}

fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || "-|".contains(c)) && !word.starts_with('-')
}

/// Every page that operators read.
fn pages() -> Vec<String> {
    let folders = ["docs", "docs/runbooks", "deploy/errors", "k8s/charts/signalbox", "."];
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(workspace().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let folder = folder.to_owned();
        names
            .filter(|name| name.ends_with(".md"))
            .map(move |name| format!("{folder}/{name}"))
            .collect::<Vec<_>>()
    };
    folders.into_iter().flat_map(in_folder).collect()
}

#[test]
fn every_command_is_taken_as_it_is_printed() {
    let mut commands_of = BTreeMap::new();
    for page in pages() {
        commands_of.extend(commands(&page).into_iter().map(|arguments| (arguments, page.clone())));
    }
    assert!(commands_of.len() > 60, "only {} commands were found", commands_of.len());
    let refused = commands_of.into_iter().filter_map(|(arguments, page)| {
        let mut command = Command::new(built("signalbox"));
        command
            .args(&arguments)
            .env("SIGNALBOX_SERVER", NOBODY)
            .current_dir(workspace())
            .stdin(Stdio::null());
        // It would stay.
        if arguments.first().is_some_and(|first| first == "serve") {
            command.arg("--help");
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_refused = output.status.code() == Some(USAGE_ERROR);
        is_refused.then(|| format!("{page}: signalbox {}\n{told}", arguments.join(" ")))
    });
    let refused: Vec<String> = refused.collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn words_are_those_of_a_shell() {
    let read = |line| arguments(line).unwrap_or_default();
    assert_eq!(read("$ A=$B signalbox chat 'a b' --x \"c\" # why"), ["chat", "a b", "--x", "c"]);
    assert_eq!(read("docker compose exec ingest signalbox usage query | head"), ["usage", "query"]);
    assert_eq!(read("signalbox health --server http://HOST"), ["health", "--server", NOBODY]);
    assert_eq!(read("kubectl create secret generic signalbox"), [""; 0]);
}
