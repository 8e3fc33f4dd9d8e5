//! Requests, and how they met the cache.

use signalbox_api::v1::{CacheMode, GenerateRequest, GenerateResponse, Route, cache_effect::Outcome};
use signalbox_testkit::{Client, ask};
use std::time::{Duration, Instant};
use tonic::Status;

pub(crate) const MODEL: &str = "openai/gpt-6-luna";

/// A tenant's request for an exact answer.
pub(crate) fn exact(text: &str) -> GenerateRequest {
    GenerateRequest { tenant_id: "acme".to_owned(), locale: "en-GB".to_owned(), ..ask::request(MODEL, text) }
}

/// One that is matched by meaning, too.
pub(crate) fn by_meaning(text: &str) -> GenerateRequest {
    GenerateRequest { model: String::new(), task_type: "classification".to_owned(), ..exact(text) }
}

/// The same without the cache.
pub(crate) fn past_the_cache(request: GenerateRequest) -> GenerateRequest {
    GenerateRequest { cache_mode: CacheMode::Bypass.into(), ..request }
}

/// An answer, and how long it took.
pub(crate) struct Asked {
    pub(crate) took: Duration,
    pub(crate) answer: Result<GenerateResponse, Status>,
}

pub(crate) async fn ask(mut client: Client, request: GenerateRequest) -> Asked {
    let began = Instant::now();
    let answer = client.generate(request).await.map(tonic::Response::into_inner);
    Asked { took: began.elapsed(), answer }
}

impl Asked {
    /// How it met the cache, and why.
    pub(crate) fn met(&self) -> (Outcome, &str) {
        let effect = self.route().and_then(|route| route.cache.as_ref());
        effect.map_or((Outcome::Unspecified, ""), |effect| (effect.outcome(), &effect.reason))
    }

    /// Calls of vendors that it took.
    pub(crate) fn calls(&self) -> usize {
        self.route().map_or(0, |route| route.attempts.len())
    }

    fn route(&self) -> Option<&Route> {
        self.answer.as_ref().ok()?.route.as_ref()
    }
}
