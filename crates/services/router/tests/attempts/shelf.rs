//! A cache that keeps what it is given, or does as it is told.

use signalbox_api::{
    convert,
    status::to_status,
    v1::{self, cache_effect::Outcome, cache_service_server::CacheService},
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tonic::{Request, Response, Status};

/// How long a flight is led.
pub(crate) const FLIGHT: Duration = Duration::from_secs(3);

/// The cache. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    moved: Notify,
}

/// How it is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Mood {
    /// It does its work.
    #[default]
    Well,
    /// It says nothing.
    Hangs,
    /// It fails.
    Fails,
    /// It hears of every request that another leads, and says nothing to those who wait.
    HangsWhileOthersWait,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) mood: Mood,
    pub(crate) lookup_takes: Duration,
    /// A model call that each lookup makes, in nano-EUR.
    pub(crate) embedding: Option<i64>,
    /// The same of keeping an answer.
    pub(crate) verdict: Option<i64>,
    told: Vec<String>,
    kept: HashMap<String, v1::CachedAnswer>,
    led: HashSet<String>,
}

impl Shelf {
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    /// What was asked of it, as `lookup alias:pair`, `store alias:pair`, `renew` or `release`.
    pub(crate) fn told(&self) -> Vec<String> {
        self.state().told.clone()
    }

    /// The same of one kind.
    pub(crate) fn told_of(&self, kind: &str) -> Vec<String> {
        self.told().into_iter().filter(|told| told.starts_with(kind)).collect()
    }

    /// Waits until something was kept or let go.
    pub(crate) async fn settled(&self) {
        // What is spawned in the background has its turn.
        sleep(Duration::from_millis(1)).await;
    }

    /// Changes every answer that is kept.
    pub(crate) fn forge(&self, forge: impl Fn(&mut v1::CachedAnswer)) {
        self.state().kept.values_mut().for_each(forge);
    }

    async fn mood(&self) -> Result<(), Status> {
        let mood = self.state().mood;
        match mood {
            Mood::Well | Mood::HangsWhileOthersWait => Ok(()),
            Mood::Hangs => std::future::pending().await,
            Mood::Fails => Err(to_status(&Failure::new(ErrorReason::Internal, "as it was told"))),
        }
    }

    fn look(&self, key: &str) -> Option<v1::LookupResponse> {
        let mut state = self.state();
        let attempts: Vec<_> = state.embedding.map(embedding).into_iter().collect();
        let found = |outcome: Outcome| {
            let effect = v1::CacheEffect { outcome: outcome.into(), ..Default::default() };
            v1::LookupResponse { effect: Some(effect), attempts, ..Default::default() }
        };
        if let Some(answer) = state.kept.get(key) {
            let answer = Some(answer.clone());
            return Some(v1::LookupResponse { answer, ..found(Outcome::ExactHit) });
        }
        if state.led.insert(key.to_owned()) {
            let flight_ttl = Some(convert::duration_to_proto(FLIGHT));
            let lookup_token = key.to_owned();
            return Some(v1::LookupResponse { lookup_token, flight_ttl, ..found(Outcome::Miss) });
        }
        None
    }
}

/// What makes two requests the same here.
fn key(request: Option<v1::GenerateRequest>, context: Option<v1::CacheContext>) -> String {
    let mut request = request.unwrap();
    request.request_id.clear();
    // Counts as `requested`.
    request.model.clear();
    (request.cache_mode, request.timeout) = (0, None);
    format!("{request:?} {context:?}")
}

fn embedding(nano_eur: i64) -> v1::UsageAttempt {
    let attempt = v1::Attempt {
        vendor: "openai".to_owned(),
        model: "embeds".to_owned(),
        usage: Some(v1::TokenUsage { input_tokens: 3, ..Default::default() }),
        cost: Some(v1::Cost { nano_eur, ..Default::default() }),
        ..Default::default()
    };
    let kind = v1::usage_attempt::Kind::CacheEmbedding.into();
    v1::UsageAttempt { attempt: Some(attempt), kind, ..Default::default() }
}

#[tonic::async_trait]
impl CacheService for Shelf {
    async fn lookup(
        &self,
        request: Request<v1::LookupRequest>,
    ) -> Result<Response<v1::LookupResponse>, Status> {
        let v1::LookupRequest { request, context, wait } = request.into_inner();
        let requested = context.as_ref().unwrap().requested.clone();
        let mode = request.as_ref().unwrap().cache_mode();
        let mode = if mode == v1::CacheMode::ExactOnly { " exactly" } else { "" };
        self.state().told.push(format!("lookup {requested}{mode}"));
        self.mood().await?;
        let takes = self.state().lookup_takes;
        sleep(takes).await;
        let key = key(request, context);
        let wait = wait.and_then(convert::duration_from_proto);
        let found = async {
            loop {
                let moved = self.0.moved.notified();
                match self.look(&key) {
                    Some(found) => return found,
                    None => moved.await,
                }
            }
        };
        if self.state().mood == Mood::HangsWhileOthersWait && wait.is_some() {
            std::future::pending::<()>().await;
        }
        let found = timeout(wait.unwrap_or_default(), found).await;
        let under_way = || {
            let effect = v1::CacheEffect { outcome: Outcome::Miss.into(), ..Default::default() };
            v1::LookupResponse { effect: Some(effect), under_way: true, ..Default::default() }
        };
        Ok(Response::new(found.unwrap_or_else(|_| under_way())))
    }

    async fn store(&self, request: Request<v1::StoreRequest>) -> Result<Response<v1::StoreResponse>, Status> {
        let v1::StoreRequest { request, context, answer, lookup_token } = request.into_inner();
        self.state().told.push(format!("store {}", context.as_ref().unwrap().requested));
        self.mood().await?;
        let key = key(request, context);
        let mut state = self.state();
        state.kept.insert(key, answer.unwrap());
        state.led.remove(&lookup_token);
        self.0.moved.notify_waiters();
        let attempts = state.verdict.map(embedding).into_iter().collect();
        Ok(Response::new(v1::StoreResponse { entry_id: "e1".to_owned(), attempts, ..Default::default() }))
    }

    async fn renew_flight(
        &self,
        _: Request<v1::RenewFlightRequest>,
    ) -> Result<Response<v1::RenewFlightResponse>, Status> {
        self.state().told.push("renew".to_owned());
        self.mood().await?;
        Ok(Response::new(v1::RenewFlightResponse { flight_ttl: Some(convert::duration_to_proto(FLIGHT)) }))
    }

    async fn release_flight(
        &self,
        request: Request<v1::ReleaseFlightRequest>,
    ) -> Result<Response<v1::ReleaseFlightResponse>, Status> {
        let mut state = self.state();
        state.told.push("release".to_owned());
        state.led.remove(&request.into_inner().lookup_token);
        self.0.moved.notify_waiters();
        Ok(Response::new(v1::ReleaseFlightResponse {}))
    }

    async fn invalidate(
        &self,
        _: Request<v1::InvalidateRequest>,
    ) -> Result<Response<v1::InvalidateResponse>, Status> {
        Err(Status::unimplemented("CacheService.Invalidate"))
    }

    async fn report_hit(
        &self,
        _: Request<v1::ReportHitRequest>,
    ) -> Result<Response<v1::ReportHitResponse>, Status> {
        Err(Status::unimplemented("CacheService.ReportHit"))
    }

    async fn get_cache_stats(
        &self,
        _: Request<v1::GetCacheStatsRequest>,
    ) -> Result<Response<v1::GetCacheStatsResponse>, Status> {
        Err(Status::unimplemented("CacheService.GetCacheStats"))
    }

    async fn explain_cache(
        &self,
        _: Request<v1::ExplainCacheRequest>,
    ) -> Result<Response<v1::ExplainCacheResponse>, Status> {
        Err(Status::unimplemented("CacheService.ExplainCache"))
    }
}
