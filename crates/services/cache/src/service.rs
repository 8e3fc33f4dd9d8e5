//! The handlers: who may call each, and where it is answered.

use crate::{Options, Policies, cache::Cache};
use signalbox_api::{
    status::{grpc_timeout, to_status},
    v1::{self, cache_service_server::CacheService},
};
use signalbox_caching::Secret;
use signalbox_guards::Guards;
use signalbox_kit::{
    Clock,
    access::{identity, require},
};
use signalbox_ports::{
    Identity,
    cache::{CacheStore, Embedder, Verifier},
};
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
    pub(crate) cache: Arc<Cache>,
}

impl CacheKeeping {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { cache: Arc::new(Cache::new(dependencies)) }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(outcome: Result<T, Failure>) -> Answer<T> {
    outcome.map(Response::new).map_err(|failure| to_status(&failure))
}

/// A request of another role of the deployment.
fn of_role<T>(request: Request<T>) -> Result<T, Status> {
    require(&request, Identity::is_of_deployment)?;
    Ok(request.into_inner())
}

/// A request that concerns what is a tenant's. `tenant_id` finds what it names; a tenant's own key may leave it out.
fn of_tenant<T>(
    mut request: Request<T>,
    may: fn(&Identity) -> Result<(), Failure>,
    tenant_id: fn(&mut T) -> Option<&mut String>,
) -> Result<T, Status> {
    let caller = identity(&request);
    may(&caller).map_err(|failure| to_status(&failure))?;
    if let Some(named) = tenant_id(request.get_mut()) {
        *named = caller.tenant(named).map_err(|failure| to_status(&failure))?.to_owned();
    }
    Ok(request.into_inner())
}

fn anybody(_: &Identity) -> Result<(), Failure> {
    Ok(())
}

#[tonic::async_trait]
impl CacheService for CacheKeeping {
    async fn lookup(&self, request: Request<v1::LookupRequest>) -> Answer<v1::LookupResponse> {
        let timeout = grpc_timeout(request.metadata().as_ref());
        answer(self.cache.lookup(of_role(request)?, timeout).await)
    }

    async fn store(&self, request: Request<v1::StoreRequest>) -> Answer<v1::StoreResponse> {
        answer(self.cache.keep(of_role(request)?).await)
    }

    async fn renew_flight(
        &self,
        request: Request<v1::RenewFlightRequest>,
    ) -> Answer<v1::RenewFlightResponse> {
        answer(self.cache.renew(of_role(request)?).await)
    }

    async fn release_flight(
        &self,
        request: Request<v1::ReleaseFlightRequest>,
    ) -> Answer<v1::ReleaseFlightResponse> {
        answer(self.cache.give_up(of_role(request)?).await)
    }

    async fn invalidate(&self, request: Request<v1::InvalidateRequest>) -> Answer<v1::InvalidateResponse> {
        let request = of_tenant(request, Identity::may_spend, |request| Some(&mut request.tenant_id))?;
        answer(self.cache.invalidate(request).await)
    }

    async fn report_hit(&self, request: Request<v1::ReportHitRequest>) -> Answer<v1::ReportHitResponse> {
        let request = of_tenant(request, Identity::may_spend, |request| Some(&mut request.tenant_id))?;
        answer(self.cache.report(request).await)
    }

    async fn get_cache_stats(
        &self,
        request: Request<v1::GetCacheStatsRequest>,
    ) -> Answer<v1::GetCacheStatsResponse> {
        let request = of_tenant(request, anybody, |request| Some(&mut request.tenant_id))?;
        answer(self.cache.tell(request).await)
    }

    /// May call an embedder, which costs money.
    async fn explain_cache(
        &self,
        request: Request<v1::ExplainCacheRequest>,
    ) -> Answer<v1::ExplainCacheResponse> {
        let caller = require(&request, Identity::may_spend)?;
        let mut request = request.into_inner();
        for asked in [&mut request.stored, &mut request.asked].into_iter().flatten() {
            asked.tenant_id =
                caller.tenant(&asked.tenant_id).map_err(|failure| to_status(&failure))?.to_owned();
        }
        answer(self.cache.explain(request).await)
    }
}
