//! What a moderation endpoint says of texts that passed the rules.

use super::{Content, Means, told};
use crate::{
    catalog::{Catalog, Moderation, NamedPolicy},
    config::Secret,
    telemetry::metrics,
};
use prometheus::IntCounterVec;
use signalbox_ports::{Judgement, ModerationEndpoint, Moderator, NotJudged};
use signalbox_quality::content::{Action, Finding, Place};
use signalbox_types::{ErrorReason, Failure};
use std::sync::{Arc, LazyLock};

/// The rule that findings of an endpoint go by.
const RULE: &str = "moderation";
/// Longest text that is judged as one, in bytes; longer ones are judged in pieces. Endpoints cut or refuse texts beyond
/// their window, which the vendor does not tell.
const LONGEST: usize = 16 * 1024;

static FAILURES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_moderation_failures_total",
        "Calls to a moderation endpoint that gave no judgement, by content policy.",
        &["policy"],
    )
});

pub(super) fn register_metrics() {
    LazyLock::force(&FAILURES);
}

/// Asks a policy's moderation endpoint.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    policy: Arc<NamedPolicy>,
    moderator: Option<Arc<dyn Moderator>>,
    key: Option<Secret>,
}

impl Judge {
    pub(super) fn new(means: Means<'_>, catalog: &Catalog, policy: &Arc<NamedPolicy>) -> Self {
        let key = policy.moderation.as_ref().and_then(|it| catalog.moderation_key(it, means.environment));
        Self { policy: policy.clone(), moderator: means.moderator.cloned(), key }
    }

    /// One that cannot ask.
    #[cfg(test)]
    pub(super) fn without_endpoint(policy: &Arc<NamedPolicy>) -> Self {
        Self { policy: policy.clone(), moderator: None, key: None }
    }

    /// How many of the texts count as found. An endpoint that does not judge fails the request, or is passed by (`None`):
    /// that is the policy's choice.
    pub(super) async fn count(
        &self,
        moderation: &Moderation,
        texts: &[String],
    ) -> Result<Option<u32>, Failure> {
        let pieces = pieces(texts);
        if pieces.is_empty() {
            return Ok(Some(0));
        }
        match self.ask(moderation, &pieces).await {
            Ok(judgements) => {
                let found = judgements.iter().filter(|judgement| counts(judgement, moderation)).count();
                Ok(Some(found.try_into().unwrap_or(u32::MAX)))
            }
            Err(problem) => self.not_judged(moderation, &problem),
        }
    }

    async fn ask(&self, moderation: &Moderation, texts: &[String]) -> Result<Vec<Judgement>, NotJudged> {
        let endpoint = ModerationEndpoint {
            url: &moderation.url,
            key: self.key.as_ref().map(Secret::expose),
            model: &moderation.model,
            timeout: moderation.timeout,
        };
        match &self.moderator {
            Some(moderator) => moderator.judge(endpoint, texts).await,
            None => Err(NotJudged("this process has no way to it".to_owned())),
        }
    }

    fn not_judged(&self, moderation: &Moderation, problem: &NotJudged) -> Result<Option<u32>, Failure> {
        let policy = &*self.policy.name;
        FAILURES.with_label_values(&[policy]).inc();
        if !moderation.fails_closed {
            tracing::warn!(policy, "moderation endpoint passed by (on_error: allow): {problem}");
            return Ok(None);
        }
        tracing::warn!(policy, "moderation endpoint did not judge: {problem}");
        let message =
            format!("the moderation endpoint of the content policy `{policy}` did not judge: {problem}");
        Err(Failure::new(ErrorReason::Unavailable, message))
    }
}

fn counts(judgement: &Judgement, moderation: &Moderation) -> bool {
    if moderation.categories.is_empty() {
        return judgement.flagged;
    }
    let reaches =
        |(name, least): (&String, &f64)| judgement.scores.get(name).is_some_and(|score| score >= least);
    moderation.categories.iter().any(reaches)
}

/// The texts that say something, the long ones cut.
fn pieces(texts: &[String]) -> Vec<String> {
    let mut pieces = Vec::with_capacity(texts.len());
    for text in texts {
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(LONGEST));
            pieces.push(piece.to_owned());
            rest = after;
        }
    }
    pieces
}

impl Content {
    /// Has texts judged where the policy says so.
    pub(super) async fn judge_texts(
        &mut self,
        place: Place,
        texts: impl FnOnce() -> Vec<String>,
    ) -> Result<(), Failure> {
        let policy = self.policy.clone();
        let Some(moderation) = policy.moderation(place) else { return Ok(()) };
        if place == Place::Output && self.unjudged {
            return Ok(());
        }
        let texts = texts();
        let count = self.judge.count(moderation, &texts).await?;
        self.unjudged = place == Place::Output && count.is_none();
        self.judged(moderation.action, place, count)
    }

    /// Keeps what an endpoint found, and tells whether the texts may go on.
    pub(super) fn judged(&mut self, action: Action, place: Place, count: Option<u32>) -> Result<(), Failure> {
        let Some(count) = count.filter(|count| *count > 0) else { return Ok(()) };
        let finding = Finding { rule: RULE.into(), action, place, count };
        self.findings.push(told(&self.policy, &finding));
        match action {
            Action::Block => Err(self.refused(RULE, place)),
            Action::Flag | Action::Redact => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_judged_in_pieces_and_blank_ones_not_at_all() {
        let long = "é".repeat(LONGEST);
        let texts = [" \n".to_owned(), "a".to_owned(), long.clone(), String::new()];
        let pieces = pieces(&texts);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[1..].concat(), long);
        assert!(pieces.iter().all(|piece| piece.len() <= LONGEST));
    }
}
