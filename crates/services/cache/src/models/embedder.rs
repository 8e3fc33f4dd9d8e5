//! Any embedding model of the catalogue.

use super::account::{Begun, GRACE};
use signalbox_api::{
    convert::duration_to_proto,
    v1::{self, provider_service_client::ProviderServiceClient, usage_attempt::Kind},
};
use signalbox_caching::vectors::normalise;
use signalbox_kit::{Clock, Hop};
use signalbox_ports::cache::{Embedded, Embedder, NotEmbedded};
use signalbox_types::ModelRef;
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::Instant;
use tonic::Request;

/// [`Embedder`] by a model that an adapter calls: OpenAI and all who speak like it, Ollama, Gemini.
#[derive(Clone)]
pub struct EmbedderOverHop {
    adapter: ProviderServiceClient<Hop>,
    model: ModelRef,
    id: String,
    dimensions: Option<u32>,
    timeout: Duration,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for EmbedderOverHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbedderOverHop").field("id", &self.id).finish_non_exhaustive()
    }
}

impl EmbedderOverHop {
    /// Asks `model` through `adapter`, for vectors of its own length or, where it lets one choose, of `dimensions`.
    pub fn new(
        adapter: ProviderServiceClient<Hop>,
        model: ModelRef,
        dimensions: Option<u32>,
        timeout: Duration,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let id = match dimensions {
            None => model.to_string(),
            Some(dimensions) => format!("{model}@{dimensions}"),
        };
        Self { adapter, model, id, dimensions, timeout, clock }
    }

    fn question(&self, texts: &[String]) -> Request<v1::InvokeEmbeddingRequest> {
        let request = v1::EmbedRequest {
            inputs: texts.to_vec(),
            model: self.model.to_string(),
            dimensions: self.dimensions.and_then(|length| i32::try_from(length).ok()),
            ..Default::default()
        };
        let target =
            v1::Target { vendor: self.model.vendor.to_string(), model: self.model.model.to_string() };
        let mut request = Request::new(v1::InvokeEmbeddingRequest {
            target: Some(target),
            request: Some(request),
            timeout: Some(duration_to_proto(self.timeout)),
        });
        request.set_timeout(self.timeout + GRACE / 2);
        request
    }
}

#[async_trait::async_trait]
impl Embedder for EmbedderOverHop {
    fn id(&self) -> &str {
        &self.id
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, NotEmbedded> {
        let begun = Begun {
            model: &self.model,
            kind: Kind::CacheEmbedding,
            at: self.clock.now(),
            started: Instant::now(),
        };
        let answer = self.adapter.clone().invoke_embedding(self.question(texts)).await;
        let answer = answer.map_err(|status| NotEmbedded {
            reason: format!("{}: {}", self.id, status.message()),
            attempt: begun.failed(&status),
        })?;
        let v1::InvokeEmbeddingResponse { embeddings, facts } = answer.into_inner();
        let mut vectors: Vec<_> = embeddings.into_iter().map(|vector| vector.values).collect();
        vectors.iter_mut().for_each(|vector| normalise(vector));
        Ok(Embedded { vectors, attempt: Some(begun.answered(facts.unwrap_or_default())) })
    }
}
