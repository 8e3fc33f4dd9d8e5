//! The table of values in the chart's README, from the comments in values.yaml.

use serde_json::Value;

/// A value with what is said of it.
#[derive(Debug)]
pub(crate) struct Row {
    path: String,
    default: String,
    about: String,
}

/// The rows of a text of values, and the keys that nobody says anything of.
pub(crate) fn rows(text: &str) -> (Vec<Row>, Vec<String>) {
    let values: Value = serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("values.yaml: {error}"));
    let (mut rows, mut silent) = (Vec::new(), Vec::new());
    let (mut path, mut about): (Vec<(usize, String)>, Option<String>) = (Vec::new(), None);
    // Below a key that is described nothing needs to be.
    let mut described = None;
    for line in text.lines() {
        let (indent, content) = (line.len() - line.trim_start().len(), line.trim());
        if let Some(comment) = content.strip_prefix('#') {
            about = joined(about, comment.trim());
            continue;
        }
        let Some((key, _)) = content.split_once(':').filter(|(key, _)| is_key(key)) else {
            about = None;
            continue;
        };
        if described.is_some_and(|depth| indent > depth) {
            continue;
        }
        path.retain(|(depth, _)| *depth < indent);
        path.push((indent, key.to_owned()));
        let names: Vec<&str> = path.iter().map(|(_, name)| name.as_str()).collect();
        let value = values.pointer(&format!("/{}", names.join("/"))).unwrap_or(&Value::Null);
        described = about.is_some().then_some(indent);
        match about.take() {
            Some(about) => rows.push(Row { path: names.join("."), default: value.to_string(), about }),
            None if value.as_object().is_some_and(|map| !map.is_empty()) => {}
            None => silent.push(names.join(".")),
        }
    }
    (rows, silent)
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// A description begins with `--` and goes on until its key.
fn joined(about: Option<String>, comment: &str) -> Option<String> {
    match (comment.strip_prefix("-- "), about) {
        (Some(first), _) => Some(first.to_owned()),
        (None, Some(before)) => Some(format!("{before} {comment}")),
        (None, None) => None,
    }
}

/// As Markdown.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        let default = row.default.replace('|', "\\|");
        format!("| `{}` | `{default}` | {} |", row.path, row.about.replace('|', "\\|"))
    });
    ["| value | default | |".to_owned(), "|---|---|---|".to_owned()]
        .into_iter()
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}
