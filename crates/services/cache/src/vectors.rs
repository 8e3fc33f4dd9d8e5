//! Vectors of instructions: remembered, made for several texts in one call, and never made twice at the same time.

use crate::{bounded::Bounded, gate::Gate, metrics, models::GRACE, options::Options, tenants::Tenant};
use signalbox_ports::cache::{CacheAway, Digest, Embedded, Embedder, NotEmbedded};
use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

/// A vector of length 1.
pub(crate) type Vector = Arc<[f32]>;

/// No vector could be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no vector")]
pub(crate) struct NoVector;

/// Makes vectors and remembers them. Clones share it.
#[derive(Clone)]
pub(crate) struct Vectors(Arc<Inner>);

struct Inner {
    embedder: Arc<dyn Embedder>,
    gate: Gate,
    state: Mutex<State>,
    window: Duration,
    batch: usize,
    timeout: Duration,
}

struct State {
    known: Bounded<Digest, Vector>,
    /// Who waits for the vector of a text.
    waiting: HashMap<Digest, Vec<oneshot::Sender<Option<Vector>>>>,
    /// Texts of a tenant that go into its next call.
    forming: HashMap<Digest, Vec<(Digest, String)>>,
}

impl fmt::Debug for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vectors").field("embedder", &self.0.embedder).finish_non_exhaustive()
    }
}

impl Vectors {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, options: &Options) -> Self {
        let (waiting, forming) = Default::default();
        Self(Arc::new(Inner {
            embedder,
            gate: Gate::new(),
            state: Mutex::new(State { known: Bounded::new(options.known_vectors), waiting, forming }),
            window: options.embed_window,
            batch: options.embed_batch.max(1),
            timeout: options.embed_timeout,
        }))
    }

    /// Names what the vectors are of.
    pub(crate) fn embedder(&self) -> &str {
        self.0.embedder.id()
    }

    /// The vector of a text, if it is remembered.
    pub(crate) fn known(&self, tenant: &Tenant, text: &str) -> Option<Vector> {
        self.lock().known.get(&self.name(tenant, text))
    }

    /// The vector of a text. Who stops waiting for it does not stop it from being made: it is remembered for the next.
    pub(crate) async fn of(&self, tenant: &Arc<Tenant>, text: &str) -> Result<Vector, NoVector> {
        let name = self.name(tenant, text);
        if let Some(vector) = self.lock().known.get(&name) {
            return Ok(vector);
        }
        if self.0.embedder.is_local() {
            let mut vectors = self.embed(tenant, vec![(name, text.to_owned())]).await;
            return vectors.pop().flatten().ok_or(NoVector);
        }
        let made = self.order(tenant, name, text);
        made.await.ok().flatten().ok_or(NoVector)
    }

    /// Has a vector made, together with others of the tenant's that are ordered in the same moment.
    fn order(&self, tenant: &Arc<Tenant>, name: Digest, text: &str) -> oneshot::Receiver<Option<Vector>> {
        let (told, made) = oneshot::channel();
        let mut state = self.lock();
        let waiting = state.waiting.entry(name).or_default();
        waiting.push(told);
        if waiting.len() > 1 {
            return made;
        }
        let forming = state.forming.entry(tenant.digest()).or_default();
        forming.push((name, text.to_owned()));
        let (is_first, is_full) = (forming.len() == 1, forming.len() >= self.0.batch);
        let full = is_full.then(|| mem::take(forming));
        drop(state);
        match full {
            Some(texts) => drop(tokio::spawn(self.clone().call(tenant.clone(), texts))),
            None if is_first => drop(tokio::spawn(self.clone().call_later(tenant.clone()))),
            None => {}
        }
        made
    }

    /// Makes what is ordered until the window is over.
    async fn call_later(self, tenant: Arc<Tenant>) {
        sleep(self.0.window).await;
        let texts = self.lock().forming.remove(&tenant.digest()).unwrap_or_default();
        self.call(tenant, texts).await;
    }

    async fn call(self, tenant: Arc<Tenant>, texts: Vec<(Digest, String)>) {
        if texts.is_empty() {
            return;
        }
        let names: Vec<_> = texts.iter().map(|(name, _)| *name).collect();
        // Whatever happens to the call, those who wait are told.
        let orders = Orders { vectors: &self, names };
        let made = self.embed(&tenant, texts).await;
        orders.told(made);
    }

    /// One call of the embedder; `None` for each text where it fails.
    async fn embed(&self, tenant: &Tenant, texts: Vec<(Digest, String)>) -> Vec<Option<Vector>> {
        let (names, texts): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
        let embedding = async {
            let embedded = self.0.embedder.embed(&texts).await;
            let (vectors, attempt) = match embedded {
                Ok(Embedded { vectors, attempt }) if vectors.len() == texts.len() => (Ok(vectors), attempt),
                Ok(Embedded { vectors, attempt }) => {
                    let reason = format!("{} vectors for {} texts", vectors.len(), texts.len());
                    (Err(CacheAway(reason)), attempt)
                }
                Err(NotEmbedded { reason, attempt }) => (Err(CacheAway(reason)), attempt),
            };
            tenant.owe(attempt);
            vectors
        };
        let until = Instant::now() + self.0.timeout + GRACE;
        match self.0.gate.ask(until, embedding).await {
            Ok(vectors) => {
                metrics::embedded("made", names.len());
                let vectors: Vec<Vector> = vectors.into_iter().map(Vector::from).collect();
                let mut state = self.lock();
                for (name, vector) in names.into_iter().zip(&vectors) {
                    state.known.insert(name, vector.clone());
                }
                vectors.into_iter().map(Some).collect()
            }
            Err(_) => {
                metrics::embedded("failed", names.len());
                vec![None; names.len()]
            }
        }
    }

    fn name(&self, tenant: &Tenant, text: &str) -> Digest {
        tenant.keys.text(self.embedder(), text)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Texts that are being embedded, and those who wait for them.
struct Orders<'a> {
    vectors: &'a Vectors,
    names: Vec<Digest>,
}

impl Orders<'_> {
    fn told(mut self, made: Vec<Option<Vector>>) {
        for (name, vector) in mem::take(&mut self.names).into_iter().zip(made) {
            self.tell(name, vector);
        }
    }

    fn tell(&self, name: Digest, vector: Option<Vector>) {
        let waiting = self.vectors.lock().waiting.remove(&name);
        for told in waiting.into_iter().flatten() {
            // Who went away meanwhile need not hear of it.
            let _ = told.send(vector.clone());
        }
    }
}

impl Drop for Orders<'_> {
    fn drop(&mut self) {
        for name in mem::take(&mut self.names) {
            self.tell(name, None);
        }
    }
}

#[cfg(test)]
mod tests;
