//! Tags, however a model wrote them.

use super::plain;
use serde_json::Value;
use std::collections::BTreeSet;

/// The tags of an answer; `None` where it is no list of tags.
pub(super) fn read(answer: &str) -> Option<BTreeSet<String>> {
    let answer = answer.trim();
    let tags: BTreeSet<String> = match answer.chars().next()? {
        '[' => of_json(answer)?,
        '{' => return None,
        _ => {
            answer.split([',', ';', '\n', '，', '、', '；']).map(tag).filter(|tag| !tag.is_empty()).collect()
        }
    };
    (!tags.is_empty()).then_some(tags)
}

fn of_json(answer: &str) -> Option<BTreeSet<String>> {
    let list: Vec<Value> = serde_json::from_str(answer).ok()?;
    list.iter().map(|item| item.as_str().map(tag)).collect()
}

/// A tag without the mark that begins it: `#`, `-`, `*`, `•`, or a number with a point.
fn tag(text: &str) -> String {
    let text = text.trim().trim_start_matches(['-', '*', '•', '#', ' ']);
    let unnumbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = unnumbered.len() < text.len();
    let rest = unnumbered.strip_prefix(['.', ')']).filter(|rest| is_numbered && rest.starts_with(' '));
    plain(rest.unwrap_or(text).trim_start_matches(['#', ' ']))
}
