//! Why two requests would or would not share an answer.

mod differences;

use crate::{
    cache::Cache,
    failure::away,
    question::{Asked, Kind, Question},
};
use differences::differences;
use signalbox_api::v1::{self, cache_effect::Outcome, explain_cache_response::Check};
use signalbox_caching::{Reason, Semantic, may_look_up, may_store, vectors::dot};
use signalbox_guards::Guard;
use signalbox_types::{Failure, FinishReason, Part};

/// Both requests, read.
struct Pair {
    stored: Box<Asked>,
    asked: Box<Asked>,
}

/// Checks in the order they are made.
#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, name: &str, passed: bool, detail: impl Into<String>) {
        self.0.push(Check { name: name.to_owned(), passed, detail: detail.into() });
    }

    fn all_passed(&self) -> bool {
        self.0.iter().all(|check| check.passed)
    }
}

impl Cache {
    /// Makes every check that a lookup makes, on two requests that are given.
    pub(crate) async fn explain(
        &self,
        request: v1::ExplainCacheRequest,
    ) -> Result<v1::ExplainCacheResponse, Failure> {
        let mut checks = Checks::default();
        let stored = self.given("stored", request.stored)?;
        let asked = self.given("asked", request.asked)?;
        let (Kind::Asked(stored), Kind::Asked(asked)) = (stored, asked) else {
            checks.add("cacheable", false, "answers of this task are not kept");
            return Ok(told(Outcome::Bypass, checks, None));
        };
        let pair = Pair { stored, asked };
        let (Some(one), Some(other)) = self.cacheable(&pair, &mut checks) else {
            return Ok(told(Outcome::Bypass, checks, None));
        };
        differences(&pair.stored, &pair.asked, &mut checks);
        let same_place = one.keys.partition == other.keys.partition;
        if checks.all_passed() && !same_place {
            checks.add("fingerprint", false, "something else than the instruction differs");
        }
        let outcome = if one.keys.exact == other.keys.exact {
            checks.add("instruction", true, "the same");
            Outcome::ExactHit
        } else if one.normalised.is_some() && one.normalised == other.normalised {
            checks.add("instruction", true, "the same but for typesetting");
            Outcome::NormalizedHit
        } else {
            let similarity = self.by_meaning(&one, &other, &mut checks).await?;
            let outcome = if checks.all_passed() { Outcome::SemanticHit } else { Outcome::Miss };
            return Ok(told(outcome, checks, similarity));
        };
        let outcome = if checks.all_passed() { outcome } else { Outcome::Miss };
        Ok(told(outcome, checks, None))
    }

    fn given(&self, field: &'static str, request: Option<v1::GenerateRequest>) -> Result<Kind, Failure> {
        let request = request.ok_or_else(|| Failure::invalid(field, "is required"))?;
        // What was asked for counts; which rules are in force, the router alone knows.
        let requested = match &*request.model {
            "" => format!("task:{}", request.task_type),
            model => model.to_owned(),
        };
        let prompt_template = request.prompt_template.clone();
        let context = v1::CacheContext { requested, prompt_template, ..Default::default() };
        self.read(Some(request), Some(context)).map_err(|mut failure| {
            for violation in &mut failure.violations {
                violation.field = violation.field.replacen("request", field, 1);
            }
            failure.message = failure.message.replacen("request", field, 1);
            failure
        })
    }

    /// Both questions, as far as the requests may have to do with the cache.
    fn cacheable(&self, pair: &Pair, checks: &mut Checks) -> (Option<Question>, Option<Question>) {
        let some_answer = [Part::text("an answer")];
        let stored = self.question(&pair.stored, |request, canonical, policy, facts| {
            may_store(request, canonical, policy, facts, &some_answer, FinishReason::Stop)
        });
        let asked = self.question(&pair.asked, may_look_up);
        let mut check = |name: &str, question: &Result<Question, Reason>| match question {
            Ok(_) => checks.add(name, true, ""),
            Err(reason) => checks.add(name, false, reason.name()),
        };
        check("stored_cacheable", &stored);
        check("asked_cacheable", &asked);
        (stored.ok(), asked.ok())
    }

    /// The checks of another wording.
    async fn by_meaning(
        &self,
        stored: &Question,
        asked: &Question,
        checks: &mut Checks,
    ) -> Result<Option<f64>, Failure> {
        let narrowed = [asked, stored].iter().find_map(|question| question.allowed.narrowed);
        let mode = asked.allowed.semantic.min(stored.allowed.semantic);
        checks.add(
            "semantic",
            mode == Semantic::On,
            match (mode, narrowed) {
                (Semantic::On, _) => "on",
                (Semantic::Shadow, _) => "shadow: matched and judged, never served",
                (Semantic::Off, Some(reason)) => reason.name(),
                (Semantic::Off, None) => "off for this task",
            },
        );
        let similarity = self.similarity(stored, asked, mode).await;
        if let Some(similarity) = similarity {
            let floor = asked.policy.floor_of(self.vectors.embedder());
            let detail = format!("{similarity:.4}, at least {floor}, by {}", self.vectors.embedder());
            checks.add("similarity", similarity >= floor, detail);
        } else {
            checks.add("similarity", false, "not compared");
        }
        self.guarded(stored, asked, checks);
        if mode != Semantic::Off {
            self.shown(asked, similarity, checks).await?;
        }
        Ok(similarity.map(f64::from))
    }

    async fn similarity(&self, stored: &Question, asked: &Question, mode: Semantic) -> Option<f32> {
        let has_both = !stored.instruction.is_empty() && !asked.instruction.is_empty();
        if !has_both || (mode == Semantic::Off && !self.dependencies.embedder.is_local()) {
            return None;
        }
        let one = self.vectors.of(&stored.tenant, &stored.instruction).await.ok()?;
        let other = self.vectors.of(&asked.tenant, &asked.instruction).await.ok()?;
        Some(dot(&one, &other))
    }

    fn guarded(&self, stored: &Question, asked: &Question, checks: &mut Checks) {
        let guards = &self.dependencies.guards;
        let seen = guards.differences(&stored.instruction, &asked.instruction, &asked.locale);
        for guard in Guard::ALL {
            let refusal = seen.iter().find(|refusal| refusal.guard == guard);
            checks.add(guard.name(), refusal.is_none(), refusal.map_or("", |refusal| &refusal.detail));
        }
    }

    /// Whether it is known that such answers are right.
    async fn shown(
        &self,
        asked: &Question,
        similarity: Option<f32>,
        checks: &mut Checks,
    ) -> Result<(), Failure> {
        let evidence = self.evidence(&asked.tenant, &asked.task_type).await.map_err(away)?;
        let policy = &asked.policy;
        let floor = policy.floor_of(self.vectors.embedder());
        let standing = evidence.pool.standing(policy.precision_target, floor, self.now());
        let from = standing.served_from;
        let passed = matches!((similarity, from), (Some(similarity), Some(from)) if similarity >= from);
        let detail = format!(
            "{:.2}% are right at least, {:.2}% must be; {:.0} observed, {:.0} of them wrong",
            standing.lower_bound * 100.0,
            policy.precision_target * 100.0,
            standing.observed.right + standing.observed.wrong,
            standing.observed.wrong,
        );
        checks.add("evidence", passed, detail);
        Ok(())
    }
}

fn told(outcome: Outcome, checks: Checks, similarity: Option<f64>) -> v1::ExplainCacheResponse {
    v1::ExplainCacheResponse { outcome: outcome.into(), checks: checks.0, similarity }
}
