//! What goes over the wire.

use serde::{Deserialize, Serialize};
use signalbox_ports::{Judgement, NotJudged};
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
}

#[derive(Deserialize)]
struct Response {
    results: Vec<Judged>,
}

/// `categories` says the same as `flagged`, category by category, and is not needed.
#[derive(Deserialize)]
struct Judged {
    flagged: bool,
    #[serde(default)]
    category_scores: BTreeMap<String, Option<f64>>,
}

pub(crate) fn request(model: &str, texts: &[String]) -> Vec<u8> {
    // Strings always have a JSON.
    serde_json::to_vec(&Request { model, input: texts }).unwrap_or_default()
}

/// The judgements in an answer to `asked` texts.
pub(crate) fn judgements(body: &[u8], asked: usize) -> Result<Vec<Judgement>, NotJudged> {
    let unreadable = |what: String| NotJudged(format!("its answer cannot be read: {what}"));
    let response: Response = serde_json::from_slice(body).map_err(|error| {
        unreadable(format!("not as expected at line {} column {}", error.line(), error.column()))
    })?;
    if response.results.len() != asked {
        return Err(unreadable(format!("{} results for {asked} texts", response.results.len())));
    }
    let judgement = |judged: Judged| Judgement {
        flagged: judged.flagged,
        scores: judged.category_scores.into_iter().filter_map(|(name, score)| Some((name, score?))).collect(),
    };
    Ok(response.results.into_iter().map(judgement).collect())
}
