//! Commands in the runbooks.

use super::pages::{blocks, runbooks};
use signalbox_deploy::read;
use signalbox_testkit::built;
use std::{collections::BTreeSet, process::Command};

/// The subcommand of a line, as in `budget show`, and its options.
fn command(line: &str) -> Option<(Vec<String>, Vec<String>)> {
    let words: Vec<&str> = line.trim().strip_prefix("signalbox ")?.split_whitespace().collect();
    let is_name =
        |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    let names = words.iter().take_while(is_name).map(ToString::to_string).collect();
    let options = words.iter().filter(|word| word.starts_with("--")).map(ToString::to_string).collect();
    Some((names, options))
}

#[test]
fn every_command_of_a_runbook_is_one() {
    let mut commands = BTreeSet::new();
    for page in runbooks() {
        for block in blocks(&read(&page), "sh") {
            commands.extend(block.lines().filter_map(command).map(|command| (command, page.clone())));
        }
    }
    assert!(!commands.is_empty());
    for ((names, options), page) in commands {
        let help = Command::new(built("signalbox")).args(&names).arg("--help").output().unwrap();
        let told = String::from_utf8_lossy(&help.stdout).into_owned();
        assert!(help.status.success(), "{page}: signalbox {}", names.join(" "));
        for option in options {
            assert!(told.contains(&option), "{page}: signalbox {} has no {option}", names.join(" "));
        }
    }
}
