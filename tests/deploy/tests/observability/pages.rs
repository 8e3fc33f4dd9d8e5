//! Pages for operators: runbooks, and the list of metrics.

use super::{expressions::Expression, families, rules};
use signalbox_deploy::read;
use signalbox_testkit::workspace;
use std::collections::BTreeSet;

/// What every runbook answers.
const QUESTIONS: [&str; 4] =
    ["## What it means", "## See more", "## Likely causes, and what to do", "## When it is over"];

/// The runbooks, by path.
pub(super) fn runbooks() -> Vec<String> {
    let folder = std::fs::read_dir(workspace().join("docs/runbooks")).unwrap();
    let mut pages: Vec<String> =
        folder.map(|page| format!("docs/runbooks/{}", page.unwrap().file_name().to_string_lossy())).collect();
    pages.sort();
    pages
}

/// What is between fences of a language.
pub(super) fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// PromQL in the runbooks: an expression a line.
pub(super) fn expressions() -> Vec<Expression> {
    let of = |page: &String| {
        let blocks = blocks(&read(page), "promql");
        let lines: Vec<String> = blocks.iter().flat_map(|block| block.lines().map(str::to_owned)).collect();
        let place = page.clone();
        lines.into_iter().map(move |text| Expression { place: place.clone(), text, shown: Vec::new() })
    };
    runbooks().iter().flat_map(of).collect()
}

#[test]
fn every_runbook_answers_what_somebody_asks_at_night() {
    for (name, rule) in rules::alerts() {
        let page = read(&format!("docs/runbooks/{name}.md"));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}: its title");
        let severity = rule["labels"]["severity"].as_str().unwrap_or_default();
        assert!(page.contains(&format!("**{severity}**")), "{name}: its severity, {severity}");
        let mut rest = &*page;
        for question in QUESTIONS {
            rest = rest
                .split_once(question)
                .map(|(_, rest)| rest)
                .unwrap_or_else(|| panic!("{name}: {question}"));
        }
        assert!(page.lines().count() < 60, "{name}: too long to be read at night");
    }
}

#[test]
fn the_index_leads_to_every_runbook() {
    let index = read("docs/runbooks/README.md");
    for (name, _) in rules::alerts() {
        assert!(index.contains(&format!("[{name}]({name}.md)")), "{name}");
    }
}

#[test]
fn links_of_runbooks_lead_somewhere() {
    for page in runbooks().into_iter().chain(["docs/metrics.md".to_owned()]) {
        let text = read(&page);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
            let path =
                workspace().join(&page).parent().unwrap().join(link.split('#').next().unwrap_or_default());
            assert!(path.exists(), "{page}: {link}");
        }
    }
}

#[test]
fn every_metric_is_documented_as_it_is_registered() {
    let page = read("docs/metrics.md");
    let documented: BTreeSet<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |(name, family): (String, super::Family)| {
        let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `{name}` | {} | {} | {} |", family.kind, labels.join(" "), family.help)
    };
    let registered: BTreeSet<String> = families().into_iter().map(row).collect();
    let registered: BTreeSet<&str> = registered.iter().map(String::as_str).collect();
    let missing: Vec<_> = registered.difference(&documented).collect();
    let surplus: Vec<_> = documented.difference(&registered).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "to be added:\n{missing:#?}\nto go:\n{surplus:#?}");
}
