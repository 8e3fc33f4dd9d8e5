//! Keeping an answer.

mod answer;
mod judged;

use crate::{
    cache::Cache,
    effect::entry_id,
    flights::Landed,
    kept::{Kept, worth},
    metrics,
    question::{Kind, Question},
    seal::{self, Place},
    tenants::NoKey,
    token::{NearHit, Token},
};
use prost::Message as _;
use signalbox_api::v1::{self, CachedAnswer};
use signalbox_caching::{Semantic, may_store};
use signalbox_ports::cache::{CacheAway, Entry, Epochs};
use signalbox_types::Failure;
use std::sync::Arc;
use tokio::{sync::oneshot, time::timeout};

/// Why an answer is not kept that something was invalidated of meanwhile.
const INVALIDATED: &str = "invalidated";

/// Everything that keeping an answer takes.
#[derive(Debug)]
struct Keeping {
    question: Question,
    answer: CachedAnswer,
    /// Epochs when it was looked up, if that is known.
    epochs: Option<Epochs>,
    /// Who leads the flight it ends; empty for none.
    owner: String,
    /// An answer to compare it with.
    near: Option<NearHit>,
}

/// Why an answer is not kept, beside what it is.
#[derive(Debug, thiserror::Error)]
enum NotKept {
    #[error(transparent)]
    Away(#[from] CacheAway),
    #[error(transparent)]
    NoKey(#[from] NoKey),
    #[error(transparent)]
    NotSealed(#[from] seal::NotSealed),
    #[error("something of it was invalidated")]
    Invalidated,
}

impl Cache {
    /// Keeps an answer, in its turn. Those who wait for it in this process have it at once.
    pub(crate) async fn keep(
        self: &Arc<Self>,
        request: v1::StoreRequest,
    ) -> Result<v1::StoreResponse, Failure> {
        let answer = request.answer.ok_or_else(|| Failure::invalid("answer", "is required"))?;
        if answer.vendor.is_empty() {
            return Err(Failure::invalid("answer.vendor", "is required"));
        }
        if answer.cost.as_ref().is_some_and(|cost| cost.nano_eur < 0) {
            return Err(Failure::invalid("answer.cost", "must not be negative"));
        }
        let token = match &*request.lookup_token {
            "" => None,
            text => Some(Token::read(text, &self.tenants)?),
        };
        let tenant_id = request.request.as_ref().map(|request| request.tenant_id.clone()).unwrap_or_default();
        if token.as_ref().is_some_and(|(_, tenant)| tenant.id != tenant_id) {
            return Err(Failure::invalid("lookup_token", "is of another tenant's lookup"));
        }
        let token = token.map(|(token, _)| token);
        let question = match self.read(request.request, request.context)? {
            Kind::Bypass(reason) => Err(reason),
            Kind::Asked(asked) => {
                let (content, finish_reason) = answer::read(&answer);
                self.question(&asked, |request, canonical, policy, facts| {
                    may_store(request, canonical, policy, facts, &content, finish_reason)
                })
            }
        };
        match question {
            Ok(question) => Ok(self.take(question, answer, token).await),
            Err(reason) => {
                self.nothing_to_share(&tenant_id, token).await;
                metrics::kept(reason.name());
                Ok(v1::StoreResponse { refused_reason: reason.name().to_owned(), ..Default::default() })
            }
        }
    }

    /// Lets all go on that wait for an answer which nobody may have.
    async fn nothing_to_share(&self, tenant_id: &str, token: Option<Token>) {
        let Some(token) = token.filter(|token| !token.owner.is_empty()) else { return };
        let key = (self.tenants.get(tenant_id).digest(), token.key());
        self.flights.abandon(key);
        self.release(key, &token.owner).await;
    }

    /// Hands an answer to those who wait, and puts it in line to be stored.
    async fn take(
        self: &Arc<Self>,
        question: Question,
        mut answer: CachedAnswer,
        token: Option<Token>,
    ) -> v1::StoreResponse {
        let (tenant, key) = (question.tenant.clone(), question.keys.exact);
        let id = entry_id(key);
        answer.entry_id = String::new();
        answer.stored_at = Some(self.now().into());
        let token = self.of_this(&question, token).await;
        let epochs = token.as_ref().and_then(|token| token.epochs(&question.scopes));
        if self.is_outdated(&question, epochs.as_ref()).await {
            return self.invalidated(&question, token).await;
        }
        let landed = Landed { entry_id: id.clone(), answer: answer.clone() };
        self.flights.land((tenant.digest(), key), &Arc::new(landed));
        let keeping = Keeping {
            epochs,
            near: token.as_ref().and_then(|token| token.near),
            owner: token.map(|token| token.owner).unwrap_or_default(),
            question,
            answer,
        };
        let result = self.in_line(keeping).await;
        metrics::kept(result.err().unwrap_or("stored"));
        v1::StoreResponse {
            entry_id: result.map(|()| id).unwrap_or_default(),
            refused_reason: result.err().unwrap_or_default().to_owned(),
            attempts: tenant.take_owed(),
        }
    }

    /// Whether something was invalidated since an answer was looked up, which then is one of the time before.
    async fn is_outdated(&self, question: &Question, then: Option<&Epochs>) -> bool {
        let Some(then) = then else { return false };
        let (tenant, options) = (&question.tenant, &self.dependencies.options);
        let current = tenant.epochs(&*self.dependencies.store, &question.scopes);
        // Where the store does not say, what was heard before counts.
        let _ = timeout(options.exact_budget, current).await;
        tenant.is_outdated(then)
    }

    /// Nobody may have the answer: the next in line makes one of its own.
    async fn invalidated(&self, question: &Question, token: Option<Token>) -> v1::StoreResponse {
        if let Some(token) = token.filter(|token| !token.owner.is_empty()) {
            self.release((question.tenant.digest(), token.key()), &token.owner).await;
        }
        metrics::kept(INVALIDATED);
        let attempts = question.tenant.take_owed();
        v1::StoreResponse { refused_reason: INVALIDATED.to_owned(), attempts, ..Default::default() }
    }

    /// The token, if the answer is to the very request that was looked up. An answer of a lower tier than was asked for is
    /// not, and all who wait for one of that tier make their own.
    async fn of_this(&self, question: &Question, token: Option<Token>) -> Option<Token> {
        let token = token?;
        if token.key() == question.keys.exact {
            return Some(token);
        }
        if !token.owner.is_empty() {
            let key = (question.tenant.digest(), token.key());
            self.flights.abandon(key);
            self.release(key, &token.owner).await;
        }
        None
    }

    /// Waits for the turn of an answer. The error is why it was not kept.
    async fn in_line(self: &Arc<Self>, keeping: Keeping) -> Result<(), &'static str> {
        let (told, done) = oneshot::channel();
        let cache = self.clone();
        let budget = self.dependencies.options.store_budget;
        let job = async move {
            let result = match timeout(budget, cache.put(keeping)).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(NotKept::Invalidated)) => Err(INVALIDATED),
                Ok(Err(why)) => {
                    tracing::debug!(%why, "an answer was not kept");
                    Err("store")
                }
                Err(_) => Err("timeout"),
            };
            // Who no longer waits need not hear of it.
            let _ = told.send(result);
        };
        if self.queue.push(Box::pin(job)) {
            metrics::kept("dropped");
        }
        done.await.unwrap_or(Err("overload"))
    }

    /// Stores an answer, ends its flight for other processes, and learns from it.
    async fn put(&self, keeping: Keeping) -> Result<(), NotKept> {
        let Keeping { question, answer, epochs, owner, near } = &keeping;
        let tenant = &question.tenant;
        let by_meaning = question.allowed.semantic != Semantic::Off;
        let vector = if by_meaning { self.vectors.known(tenant, &question.instruction) } else { None };
        if self.is_outdated(question, epochs.as_ref()).await {
            // While it waited for its turn; what is being erased must not come after the last look for it.
            self.release((tenant.digest(), question.keys.exact), owner).await;
            return Err(NotKept::Invalidated);
        }
        let mut entry = self.entry(question, answer, epochs.clone()).await?;
        entry.vector = vector.map(|vector| vector.to_vec());
        let put = self.write(question, &entry).await;
        if !owner.is_empty() {
            self.release((tenant.digest(), question.keys.exact), owner).await;
        }
        put?;
        if by_meaning && entry.vector.is_none() {
            // Whoever asks for the same in the same words need not wait for this.
            if let Ok(vector) = self.vectors.of(tenant, &question.instruction).await {
                entry.vector = Some(vector.to_vec());
                self.write(question, &entry).await?;
            }
        }
        if let Some(near) = near {
            self.compare(question, answer, near).await?;
        }
        Ok(())
    }

    async fn write(&self, question: &Question, entry: &Entry) -> Result<(), CacheAway> {
        let aliases: Vec<_> = question.normalised.into_iter().collect();
        let (embedder, ttl) = (self.vectors.embedder(), question.policy.ttl);
        self.dependencies.store.put(entry, &aliases, embedder, ttl).await
    }

    /// The entry of an answer, without its vector.
    async fn entry(
        &self,
        question: &Question,
        answer: &CachedAnswer,
        epochs: Option<Epochs>,
    ) -> Result<Entry, NotKept> {
        let (tenant, store) = (&question.tenant, &*self.dependencies.store);
        let epochs = match epochs {
            Some(epochs) => epochs,
            None => tenant.epochs(store, &question.scopes).await?,
        };
        let data_key = tenant.data_key_or_new(store).await?;
        let kept = Kept {
            answer: Some(answer.clone()),
            instruction: question.instruction.clone(),
            task_type: question.task_type.clone(),
            locale: question.locale.clone(),
        };
        let partition = question.keys.partition;
        let place = Place { partition: &partition, key: question.keys.exact, epochs: &epochs };
        let sealed = seal::seal(&data_key, place, &kept.encode_to_vec())?;
        let (key, worth) = (question.keys.exact, worth(answer));
        Ok(Entry { key, partition, epochs, sealed, vector: None, worth })
    }
}
