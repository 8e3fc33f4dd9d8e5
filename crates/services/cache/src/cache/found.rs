//! Entries as they come from the store, which is not believed: each is looked at again before it is anybody's answer.

use super::Cache;
use crate::{
    kept::{Kept, age},
    metrics::{self, Violation},
    question::Question,
    seal::{self, Closed, Place},
};
use prost::Message as _;
use signalbox_api::v1::{CachedAnswer, cache_effect::Outcome};
use signalbox_ports::cache::{CacheAway, Digest, Entry, Epochs};
use std::time::Duration;

/// An answer that may be this tenant's, in this partition, as far as place and time go.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) key: Digest,
    pub(crate) answer: CachedAnswer,
    /// The instruction it was made for.
    pub(crate) instruction: String,
    pub(crate) age: Duration,
}

impl Cache {
    /// The answer to this very request, or to one that differs in nothing that matters; and the epochs that count.
    pub(crate) async fn equal(
        &self,
        question: &Question,
    ) -> Result<(Option<(Outcome, Found)>, Epochs), CacheAway> {
        let Question { tenant, keys, normalised, scopes, .. } = question;
        let store = &*self.dependencies.store;
        let wanted: Vec<_> = [Some(keys.exact), *normalised].into_iter().flatten().collect();
        let (entry, epochs, _) = futures_util::future::try_join3(
            store.get(tenant.digest(), &wanted),
            tenant.epochs(store, scopes),
            tenant.data_key(store),
        )
        .await?;
        let Some(entry) = entry else { return Ok((None, epochs)) };
        let outcome = if entry.key == keys.exact { Outcome::ExactHit } else { Outcome::NormalizedHit };
        let found =
            self.opened(question, entry).await?.filter(|found| self.is_equal(question, found, outcome));
        Ok((found.map(|found| (outcome, found)), epochs))
    }

    /// Whether an entry that came under a key is one that belongs there.
    fn is_equal(&self, question: &Question, found: &Found, outcome: Outcome) -> bool {
        let same = outcome == Outcome::ExactHit
            || (question.normalised.is_some()
                && self.normalised(question, &found.instruction) == question.normalised);
        if !same {
            metrics::violation(Violation::Key);
        }
        same
    }

    /// The answer in an entry, if it lies where it was put, is not outdated, and can be opened.
    pub(crate) async fn opened(&self, question: &Question, entry: Entry) -> Result<Option<Found>, CacheAway> {
        let (tenant, store) = (&question.tenant, &*self.dependencies.store);
        if entry.partition != question.keys.partition {
            metrics::violation(Violation::Partition);
            return Ok(None);
        }
        let scopes: Vec<_> = entry.epochs.iter().map(|(scope, _)| *scope).collect();
        let current = tenant.epochs(store, &scopes).await?;
        if scopes.is_empty() || current != entry.epochs {
            return Ok(None);
        }
        let Some(key_id) = seal::key_id(&entry.sealed) else {
            metrics::violation(Violation::Seal);
            return Ok(None);
        };
        let Some(key) = tenant.data_key_of(store, key_id).await? else { return Ok(None) };
        let place = Place { partition: &entry.partition, key: entry.key, epochs: &entry.epochs };
        let plain = match seal::open(&key, place, &entry.sealed) {
            Ok(plain) => plain,
            Err(Closed::Outdated) => return Ok(None),
            Err(Closed::Forged) => {
                metrics::violation(Violation::Seal);
                return Ok(None);
            }
        };
        let Ok(Kept { answer: Some(answer), instruction, .. }) = Kept::decode(&*plain) else {
            return Ok(None);
        };
        let age = age(&answer, self.now());
        Ok((age <= question.policy.ttl).then_some(Found { key: entry.key, answer, instruction, age }))
    }
}
