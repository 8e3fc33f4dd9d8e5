//! A routing decision as tables.

use crate::commands::show;
use signalbox_api::v1::{self, candidate::Standing};

/// Names in the order in which they are shown; others follow by name.
const KNOWN: [&str; 5] = ["cost", "latency", "health", "quality", "quota"];

/// What was asked for, who could serve it and how well, who could not and why, and what counted how much.
/// `request_id` is what the draw depends on; empty where the request has none of its own.
pub(super) fn report(answer: &v1::ExplainRouteResponse, request_id: &str) -> String {
    let nothing = v1::Decision::default();
    let decision = answer.decision.as_ref().unwrap_or(&nothing);
    let (eligible, excluded): (Vec<_>, Vec<_>) =
        decision.candidates.iter().partition(|candidate| candidate.excluded_reason.is_empty());
    let mut blocks = vec![facts(decision, request_id)];
    if !eligible.is_empty() {
        // Nothing is compared where the listed order decides: a score of zero would say something that is not so.
        blocks.push(if decision.weights.is_empty() { listed(&eligible) } else { rated(&eligible) });
    }
    if !excluded.is_empty() {
        blocks.push(left_out(&excluded));
    }
    if eligible.is_empty() {
        blocks.push("nobody could serve this".to_owned());
    }
    blocks.join("\n\n")
}

fn facts(decision: &v1::Decision, request_id: &str) -> String {
    let facts = [
        ("request id", request_id.to_owned()),
        ("requested", decision.requested.clone()),
        ("task type", decision.task_type.clone()),
        ("weights", weights(decision)),
        ("catalogue", decision.catalog_version.clone()),
    ];
    let notes = decision.notes.iter().map(|note| ("note", note.clone()));
    let rows = facts.into_iter().chain(notes).filter(|(_, value)| !value.is_empty());
    let rows: Vec<Vec<String>> = rows.map(|(name, value)| vec![name.to_owned(), value]).collect();
    show::table(&rows, &[]).join("\n")
}

fn weights(decision: &v1::Decision) -> String {
    if decision.weights.is_empty() {
        return "none: candidates keep their listed order".to_owned();
    }
    let weight = |name: &str| Some(format!("{name} {}", percent(*decision.weights.get(name)?)));
    sorted(decision.weights.keys()).into_iter().filter_map(weight).collect::<Vec<_>>().join(", ")
}

fn rated(candidates: &[&v1::Candidate]) -> String {
    let factors = sorted(candidates.iter().flat_map(|candidate| candidate.factors.keys()));
    let mut head = vec!["CANDIDATE".to_owned(), "STANDING".to_owned(), "SCORE".to_owned()];
    head.extend(factors.iter().map(|name| name.to_uppercase()));
    head.push("DRAWN FIRST".to_owned());
    let right: Vec<usize> = (2..head.len()).collect();
    let mut rows = vec![head];
    rows.extend(candidates.iter().map(|candidate| {
        let mut cells = vec![name(candidate), standing(candidate).to_owned(), figure(candidate.score)];
        let factor =
            |name: &&str| candidate.factors.get(*name).map_or_else(|| "-".to_owned(), |it| figure(*it));
        cells.extend(factors.iter().map(factor));
        cells.push(percent(candidate.draw_probability));
        cells
    }));
    show::table(&rows, &right).join("\n")
}

fn listed(candidates: &[&v1::Candidate]) -> String {
    let mut rows = vec![vec!["CANDIDATE".to_owned(), "STANDING".to_owned()]];
    rows.extend(candidates.iter().map(|candidate| vec![name(candidate), standing(candidate).to_owned()]));
    show::table(&rows, &[]).join("\n")
}

fn left_out(candidates: &[&v1::Candidate]) -> String {
    let mut rows = vec![vec!["LEFT OUT".to_owned(), "WHY".to_owned()]];
    rows.extend(candidates.iter().map(|candidate| vec![name(candidate), candidate.excluded_reason.clone()]));
    show::table(&rows, &[]).join("\n")
}

fn name(candidate: &v1::Candidate) -> String {
    format!("{}/{}", candidate.vendor, candidate.model)
}

fn standing(candidate: &v1::Candidate) -> &'static str {
    match candidate.standing() {
        Standing::Unspecified => "-",
        Standing::Preferred => "preferred",
        Standing::Secondary => "secondary",
        Standing::LastResort => "last resort",
    }
}

/// Each name once, the known ones ahead.
fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    let place = |name: &str| KNOWN.iter().position(|known| *known == name).unwrap_or(KNOWN.len());
    names.sort_unstable_by_key(|name| (place(name), *name));
    names.dedup();
    names
}

/// With three decimals; what is above zero never looks like zero.
fn figure(value: f64) -> String {
    if value > 0.0 && value < 0.0005 { "<0.001".to_owned() } else { format!("{value:.3}") }
}

/// As [`figure`], with one decimal.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "<0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<const N: usize>(figures: [(&str, f64); N]) -> impl Iterator<Item = (String, f64)> {
        figures.into_iter().map(|(name, figure)| (name.to_owned(), figure))
    }

    fn eligible(model: &str, score: f64, cost: f64, draw_probability: f64) -> v1::Candidate {
        v1::Candidate {
            vendor: "acme".into(),
            model: model.into(),
            score,
            factors: named([("quota", 1.0), ("latency", 0.5), ("cost", cost)]).collect(),
            draw_probability,
            standing: Standing::Preferred as i32,
            ..Default::default()
        }
    }

    fn excluded() -> v1::Candidate {
        let excluded_reason = "circuit open".into();
        v1::Candidate { vendor: "b".into(), model: "m".into(), excluded_reason, ..Default::default() }
    }

    fn answer(candidates: Vec<v1::Candidate>) -> v1::ExplainRouteResponse {
        let decision = v1::Decision {
            requested: "alias:smart".into(),
            candidates,
            catalog_version: "00ff".into(),
            weights: named([("quota", 0.05), ("cost", 0.7), ("latency", 0.25)]).collect(),
            ..Default::default()
        };
        v1::ExplainRouteResponse { decision: Some(decision), ..Default::default() }
    }

    #[test]
    fn every_candidate_is_shown_with_its_score_factors_and_chance_or_why_it_is_left_out() {
        let large = eligible("large", 0.71234, 0.5, 0.9996);
        let small = eligible("small", 0.00001, 0.25, 0.0004);
        let small = v1::Candidate { standing: Standing::Secondary as i32, ..small };
        let expected = "\
requested  alias:smart
weights    cost 70.0 %, latency 25.0 %, quota 5.0 %
catalogue  00ff

CANDIDATE   STANDING    SCORE   COST  LATENCY  QUOTA  DRAWN FIRST
acme/large  preferred   0.712  0.500    0.500  1.000      100.0 %
acme/small  secondary  <0.001  0.250    0.500  1.000       <0.1 %

LEFT OUT  WHY
b/m       circuit open";
        assert_eq!(report(&answer(vec![large, excluded(), small]), ""), expected);
    }

    #[test]
    fn the_request_its_kind_of_work_and_what_else_is_worth_knowing_come_first() {
        let mut found = answer(vec![eligible("large", 1.0, 0.5, 1.0)]);
        let decision = found.decision.as_mut().unwrap();
        decision.task_type = "creative".into();
        decision.notes = vec!["found by its temperature".into(), "nobody is that quick".into()];
        let expected = "\
request id  r-1
requested   alias:smart
task type   creative
weights     cost 70.0 %, latency 25.0 %, quota 5.0 %
catalogue   00ff
note        found by its temperature
note        nobody is that quick
";
        assert!(report(&found, "r-1").starts_with(expected), "{}", report(&found, "r-1"));
    }

    #[test]
    fn a_request_that_nobody_could_serve_is_said_so() {
        let shown = report(&answer(vec![excluded()]), "");
        assert!(!shown.contains("CANDIDATE"), "{shown}");
        assert!(shown.ends_with("b/m       circuit open\n\nnobody could serve this"), "{shown}");
        assert!(report(&v1::ExplainRouteResponse::default(), "").ends_with("nobody could serve this"));
    }

    #[test]
    fn without_weights_the_listed_order_is_named() {
        let mut listed = answer(vec![eligible("large", 1.0, 0.5, 1.0)]);
        listed.decision.as_mut().unwrap().weights.clear();
        assert!(report(&listed, "").contains("weights    none: candidates keep their listed order\n"));
    }

    #[test]
    fn a_factor_that_only_some_have_is_a_column_with_gaps() {
        let mut large = eligible("large", 0.5, 0.5, 0.5);
        large.factors.extend(named([("age", 0.125)]));
        let shown = report(&answer(vec![large, eligible("small", 0.5, 0.5, 0.5)]), "");
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let lines: Vec<_> = shown.lines().skip(4).map(cells).collect();
        let at = lines[0].iter().position(|cell| cell == "AGE").unwrap();
        assert_eq!((lines[1][at].as_str(), lines[2][at].as_str()), ("0.125", "-"));
    }
}
