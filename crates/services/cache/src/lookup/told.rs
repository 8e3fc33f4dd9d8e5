//! What the caller is told, and what is counted of it.

use super::Miss;
use crate::{
    cache::{Cache, Found},
    effect::{entry_id, with_answer, without_answer},
    flights::Landed,
    kept::age,
    metrics,
    question::Question,
    report::served_id,
    stats::Seen,
};
use signalbox_api::{
    convert::duration_to_proto,
    v1::{self, CacheEffect, CachedAnswer, cache_effect::Outcome},
};
use signalbox_caching::Reason;
use tokio::time::Instant;

impl Cache {
    /// The request has nothing to do with the cache.
    pub(super) fn bypassed(&self, tenant_id: &str, task_type: &str, reason: Reason) -> v1::LookupResponse {
        let tenant = self.tenants.get(tenant_id);
        self.seen(&tenant, task_type, &Seen::Bypassed(reason.name()));
        metrics::looked_up(Outcome::Bypass, reason.name());
        let effect = without_answer(Outcome::Bypass, reason.name());
        v1::LookupResponse { effect: Some(effect), ..Default::default() }
    }

    /// An answer from the store.
    pub(super) fn hit(
        &self,
        question: &Question,
        outcome: Outcome,
        found: &Found,
        similarity: Option<f32>,
        started: Instant,
    ) -> v1::LookupResponse {
        let id = match similarity {
            None => entry_id(found.key),
            Some(similarity) => served_id(&question.tenant, found.key, similarity, &question.request_id),
        };
        let mut effect = with_answer(outcome, &found.answer, id, found.age, started.elapsed());
        if let Some(similarity) = similarity {
            effect.similarity = similarity.into();
            metrics::similarity("served", similarity);
        }
        self.served(question, effect, &found.answer)
    }

    /// An answer that came while the request waited for it.
    pub(super) fn coalesced(
        &self,
        question: &Question,
        landed: &Landed,
        started: Instant,
    ) -> v1::LookupResponse {
        let age = age(&landed.answer, self.now());
        let id = landed.entry_id.clone();
        let effect = with_answer(Outcome::Coalesced, &landed.answer, id, age, started.elapsed());
        self.served(question, effect, &landed.answer)
    }

    fn served(&self, question: &Question, effect: CacheEffect, answer: &CachedAnswer) -> v1::LookupResponse {
        metrics::looked_up(effect.outcome(), "");
        metrics::saved(answer);
        self.seen(&question.tenant, &question.task_type, &Seen::Served(&effect));
        let mut answer = answer.clone();
        answer.entry_id.clone_from(&effect.entry_id);
        v1::LookupResponse {
            effect: Some(effect),
            answer: Some(answer),
            attempts: question.tenant.take_owed(),
            ..Default::default()
        }
    }

    /// No answer. `owner`: the lead, if this request has it.
    pub(super) fn missed(
        &self,
        question: &Question,
        miss: Miss,
        owner: Option<String>,
        under_way: bool,
    ) -> v1::LookupResponse {
        let reason = miss.reason.unwrap_or_default();
        if under_way {
            // It is asked again, and counts then.
            metrics::looked_up(Outcome::Miss, "under_way");
        } else {
            metrics::looked_up(Outcome::Miss, reason);
            self.seen(&question.tenant, &question.task_type, &Seen::Missed(reason));
        }
        if let Some(near) = miss.near {
            metrics::similarity("refused", near.similarity);
        }
        let leads = owner.is_some();
        v1::LookupResponse {
            effect: Some(without_answer(Outcome::Miss, reason)),
            answer: None,
            lookup_token: Self::token(question, &miss, owner),
            flight_ttl: leads.then(|| duration_to_proto(self.dependencies.options.flight_ttl)),
            attempts: question.tenant.take_owed(),
            under_way,
        }
    }
}
