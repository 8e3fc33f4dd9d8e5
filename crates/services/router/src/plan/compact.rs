//! A decision in one line, for spans and usage events.

use signalbox_api::v1;
use std::fmt::Write;

/// As in `task=headline | openai/gpt-6-luna 0.71 p=0.62 | xai/grok-5 0.44 p=0.38 | ollama/x excluded: lacks tools`:
/// those to try in order, with score and probability of being drawn first where they are scored, and those left out.
pub(crate) fn compact(decision: &v1::Decision) -> String {
    let mut line = match &*decision.task_type {
        "" => decision.requested.clone(),
        task => format!("task={task}"),
    };
    for candidate in &decision.candidates {
        push(&mut line, candidate, !decision.weights.is_empty());
    }
    for note in &decision.notes {
        line.extend([" | note: ", note]);
    }
    line
}

fn push(line: &mut String, candidate: &v1::Candidate, scored: bool) {
    line.extend([" | ", &candidate.vendor, "/", &candidate.model]);
    // Writing to a String cannot fail.
    let _ = match &*candidate.excluded_reason {
        "" if scored => write!(line, " {:.2} p={:.2}", candidate.score, candidate.draw_probability),
        "" => Ok(()),
        reason => write!(line, " excluded: {reason}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(vendor: &str, score: f64, draw_probability: f64) -> v1::Candidate {
        v1::Candidate {
            vendor: vendor.into(),
            model: "m".into(),
            score,
            draw_probability,
            ..Default::default()
        }
    }

    fn decision() -> v1::Decision {
        let excluded_reason = "lacks tools".into();
        v1::Decision {
            requested: "alias:fast".into(),
            candidates: vec![
                candidate("a", 0.714, 0.62),
                candidate("b", 0.44, 0.38),
                v1::Candidate { excluded_reason, ..candidate("c", 0.0, 0.0) },
            ],
            weights: [("cost".to_owned(), 1.0)].into(),
            ..Default::default()
        }
    }

    #[test]
    fn a_scored_decision_is_one_line_with_score_and_chance() {
        let line = "alias:fast | a/m 0.71 p=0.62 | b/m 0.44 p=0.38 | c/m excluded: lacks tools";
        assert_eq!(compact(&decision()), line);
    }

    #[test]
    fn the_listed_order_has_no_scores_and_the_task_and_notes_are_told() {
        let notes = vec!["nobody is that quick".into()];
        let listed = v1::Decision { weights: [].into(), task_type: "headline".into(), notes, ..decision() };
        let line = "task=headline | a/m | b/m | c/m excluded: lacks tools | note: nobody is that quick";
        assert_eq!(compact(&listed), line);
    }
}
