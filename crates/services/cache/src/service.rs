//! The handlers: who may call each, and where it is answered.

use crate::{Options, Policies};
use signalbox_api::{
    status::to_status,
    v1::{self, cache_service_server::CacheService},
};
use signalbox_caching::Secret;
use signalbox_guards::Guards;
use signalbox_kit::Clock;
use signalbox_ports::cache::{CacheStore, Embedder, Verifier};
use signalbox_types::Failure;
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// What the service works with. Clones share it.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// Where answers lie.
    pub store: Arc<dyn CacheStore>,
    /// What turns instructions into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// What judges answers that comparing does not; `None` where such answers count as wrong.
    pub verifier: Option<Arc<dyn Verifier>>,
    /// What sees that two instructions differ.
    pub guards: Arc<Guards>,
    /// What is configured.
    pub policies: Arc<dyn Policies>,
    /// What keys and seals are made from.
    pub secret: Secret,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// Sizes and times.
    pub options: Options,
}

/// [`CacheService`] over a store.
#[derive(Debug)]
pub struct CacheKeeping {
    #[expect(dead_code, reason = "skeleton")]
    dependencies: Dependencies,
}

impl CacheKeeping {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn later<T>() -> Answer<T> {
    Err(to_status(&Failure::new(signalbox_types::ErrorReason::Unimplemented, "the cache is not there yet")))
}

#[tonic::async_trait]
impl CacheService for CacheKeeping {
    async fn lookup(&self, _: Request<v1::LookupRequest>) -> Answer<v1::LookupResponse> {
        later()
    }

    async fn store(&self, _: Request<v1::StoreRequest>) -> Answer<v1::StoreResponse> {
        later()
    }

    async fn renew_flight(&self, _: Request<v1::RenewFlightRequest>) -> Answer<v1::RenewFlightResponse> {
        later()
    }

    async fn release_flight(
        &self,
        _: Request<v1::ReleaseFlightRequest>,
    ) -> Answer<v1::ReleaseFlightResponse> {
        later()
    }

    async fn invalidate(&self, _: Request<v1::InvalidateRequest>) -> Answer<v1::InvalidateResponse> {
        later()
    }

    async fn report_hit(&self, _: Request<v1::ReportHitRequest>) -> Answer<v1::ReportHitResponse> {
        later()
    }

    async fn get_cache_stats(
        &self,
        _: Request<v1::GetCacheStatsRequest>,
    ) -> Answer<v1::GetCacheStatsResponse> {
        later()
    }

    async fn explain_cache(&self, _: Request<v1::ExplainCacheRequest>) -> Answer<v1::ExplainCacheResponse> {
        later()
    }
}
