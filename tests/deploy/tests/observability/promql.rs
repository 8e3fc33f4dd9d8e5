//! As much of PromQL as tells which metrics and labels an expression uses. Whether it parses, promtool says.

use std::{iter::Peekable, str::Chars};

/// What an expression uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// Metrics and what their labels are compared with.
    pub(super) selectors: Vec<Selector>,
    /// Labels in `by`, `on` and so on.
    pub(super) grouped: Vec<String>,
}

/// A metric and its matchers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selector {
    pub(super) name: String,
    pub(super) matchers: Vec<Matcher>,
}

/// As in `vendor="openai"`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Matcher {
    pub(super) label: String,
    pub(super) value: String,
}

/// Words before a list of labels.
const LISTS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
/// Words that are no metric.
const OPERATORS: [&str; 7] = ["and", "or", "unless", "offset", "bool", "inf", "nan"];

/// Reads an expression without comments or variables.
pub(super) fn uses(expression: &str) -> Uses {
    let (mut uses, mut rest) = (Uses::default(), expression.chars().peekable());
    while let Some(next) = rest.peek().copied() {
        match next {
            '"' | '\'' => drop(string(&mut rest)),
            // Numbers and durations.
            '0'..='9' => drop(word(&mut rest)),
            'a'..='z' | 'A'..='Z' | '_' | ':' => named(&mut rest, &mut uses),
            _ => drop(rest.next()),
        }
    }
    uses
}

fn named(rest: &mut Peekable<Chars<'_>>, uses: &mut Uses) {
    let name = word(rest);
    skip_spaces(rest);
    let next = rest.peek().copied();
    if LISTS.contains(&&*name) && next == Some('(') {
        uses.grouped.extend(inside(rest, ')').split(',').map(|label| label.trim().to_owned()));
        uses.grouped.retain(|label| !label.is_empty());
    } else if next == Some('{') {
        uses.selectors.push(Selector { name, matchers: matchers(rest) });
    } else if next != Some('(')
        && !OPERATORS.contains(&&*name)
        && !LISTS.contains(&&*name)
        && !is_aggregation(&name)
    {
        uses.selectors.push(Selector { name, matchers: Vec::new() });
    }
}

/// Aggregations may have their labels before what they sum up.
fn is_aggregation(name: &str) -> bool {
    ["sum", "min", "max", "avg", "count", "topk", "group"].contains(&name)
}

fn matchers(rest: &mut Peekable<Chars<'_>>) -> Vec<Matcher> {
    rest.next();
    let mut matchers = Vec::new();
    while let Some(next) = rest.peek().copied() {
        match next {
            '}' => {
                rest.next();
                return matchers;
            }
            '"' | '\'' => {
                let value = string(rest);
                matchers.last_mut().map(|matcher: &mut Matcher| matcher.value = value).unwrap();
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                matchers.push(Matcher { label: word(rest), value: String::new() });
            }
            _ => drop(rest.next()),
        }
    }
    panic!("a selector without an end");
}

fn word(rest: &mut Peekable<Chars<'_>>) -> String {
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.');
    std::iter::from_fn(|| rest.next_if(is_part)).collect()
}

fn string(rest: &mut Peekable<Chars<'_>>) -> String {
    let quote = rest.next().unwrap();
    let text = std::iter::from_fn(|| rest.next_if(|c| *c != quote)).collect();
    rest.next();
    text
}

fn inside(rest: &mut Peekable<Chars<'_>>, end: char) -> String {
    rest.next();
    let text = std::iter::from_fn(|| rest.next_if(|c| *c != end)).collect();
    rest.next();
    text
}

fn skip_spaces(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
}

#[test]
fn what_an_expression_uses_is_found() {
    let found = uses(
        "sum by (a, by) (rate(x_total{y=\"z\", n=~\".*\"}[5m])) / on (a) group_left () max(b:c:d offset 10m) > 2 * 1e9 \
         or vector(0) and count(lone)",
    );
    let names: Vec<_> = found.selectors.iter().map(|selector| &*selector.name).collect();
    assert_eq!(names, ["x_total", "b:c:d", "lone"]);
    assert_eq!(found.selectors[0].matchers[0], Matcher { label: "y".into(), value: "z".into() });
    assert_eq!(found.grouped, ["a", "by", "a"]);
}
