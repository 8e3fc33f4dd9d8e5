//! Answers to requests that say the same in other words: near ones are looked for, and each must pass every guard.

use crate::{
    cache::{Cache, Found},
    question::Question,
    token::NearHit,
};
use signalbox_caching::{Candidate, Decision, Digest, Pool, Record, Semantic, decide};
use signalbox_ports::cache::{CacheAway, Near};

/// What was near.
#[derive(Debug)]
pub(crate) enum Nearby {
    /// An answer to serve.
    Hit(Box<Found>, f32),
    /// None: what refused the nearest, and an answer to compare with the real one.
    Miss(Option<&'static str>, Option<NearHit>),
}

/// No near answers could be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotSearched {
    Embedder,
    Store,
}

impl From<CacheAway> for NotSearched {
    fn from(_: CacheAway) -> Self {
        Self::Store
    }
}

impl Cache {
    /// Looks for an answer by the meaning of the instruction.
    pub(crate) async fn nearby(&self, question: &Question) -> Result<Nearby, NotSearched> {
        let (store, embedder) = (&self.dependencies.store, self.vectors.embedder());
        let vector = self.vectors.of(&question.tenant, &question.instruction).await;
        let vector = vector.map_err(|_| NotSearched::Embedder)?;
        let most = self.dependencies.options.nearest;
        let near = store.nearest(&question.keys.partition, embedder, &vector, most).await?;
        let floor = question.policy.floor_of(embedder);
        let mut refused = None;
        for Near { entry, similarity } in near {
            // The nearest come first. What is not a number is not near.
            if similarity < floor || similarity.is_nan() {
                break;
            }
            if entry.key == question.keys.exact {
                continue;
            }
            let Some(found) = self.opened(question, entry).await? else { continue };
            let guards = &self.dependencies.guards;
            match guards.compare(&found.instruction, &question.instruction, &question.locale) {
                Ok(()) => return Ok(self.weighed(question, found, similarity).await?),
                Err(refusal) => {
                    refused.get_or_insert_with(|| refusal.guard.name());
                }
            }
        }
        Ok(Nearby::Miss(refused, None))
    }

    /// Whether a near answer that passed the guards may be served.
    async fn weighed(&self, question: &Question, found: Found, similarity: f32) -> Result<Nearby, CacheAway> {
        let mode = question.allowed.semantic;
        let candidate = Candidate {
            similarity,
            floor: question.policy.floor_of(self.vectors.embedder()),
            mode,
            precision_target: question.policy.precision_target,
            chance: Self::chance(question),
        };
        let (pool, record) = self.known_of(question, &found, mode).await?;
        Ok(match decide(&candidate, &pool, &record, self.now()) {
            Decision::Serve => Nearby::Hit(Box::new(found), similarity),
            Decision::Audit => Nearby::Miss(Some("audit"), Some(NearHit::new(found.key, similarity, true))),
            Decision::Refuse(refusal) => {
                let near = refusal.is_observed().then(|| NearHit::new(found.key, similarity, false));
                Nearby::Miss(Some(refusal.name()), near)
            }
        })
    }

    /// What the decision rests on. In shadow mode it is no, whatever is known.
    async fn known_of(
        &self,
        question: &Question,
        found: &Found,
        mode: Semantic,
    ) -> Result<(Pool, Record), CacheAway> {
        if mode != Semantic::On {
            return Ok((Pool::new(Digest::default(), self.now()), Record::default()));
        }
        let evidence = self.evidence(&question.tenant, &question.task_type).await?;
        Ok((evidence.pool.clone(), evidence.record(found.key)))
    }
}
