//! A router over the adapter.

use crate::{adapter::Adapter, book::Book, shelf::Shelf};
use signalbox_api::v1::{
    self, cache_service_server::CacheServiceServer, provider_service_server::ProviderServiceServer,
    router_service_client::RouterServiceClient, router_service_server::RouterServiceServer,
    stream_generate_response::Event,
};
use signalbox_kit::{
    FixedClock, Hop,
    config::{ConfigHandle, Environment},
    hop,
};
use signalbox_ports::{Admission, Identity, Unlimited};
use signalbox_router::{
    Cache, CacheOptions, Dependencies, Router, SharedDrills, SharedHealth, SharedHolds, UsualCosts,
};
use std::{
    io::Write as _,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tonic::{
    Status,
    service::{Interceptor, interceptor::InterceptedService},
};

const LIMIT: usize = 1 << 20;
/// 1 June 2026: any day on which the models are served.
const DAY: Duration = Duration::from_secs(1_780_272_000);

/// Three models of two vendors and one of a third, in their order.
const CONFIG: &str = "
routing: {order: listed}
drills: {enabled: true}
aliases:
  all: {targets: [openai/gpt-6-luna, openai/gpt-6-sol, anthropic/claude-haiku-5-5, gemini/gemini-3.5-flash-lite]}
  pair: {targets: [openai/gpt-6-luna, anthropic/claude-haiku-5-5]}
  dear: {targets: [anthropic/claude-opus-5-5]}
  rising: {targets: [openai/gpt-6-luna, gemini/gemini-3.5-flash-lite, anthropic/claude-haiku-5-5]}
  mixed: {targets: [anthropic/claude-opus-5-5, openai/gpt-6-luna]}
  own: {targets: [openai/gpt-6-luna, ollama/gpt-oss:20b]}
failover: {max_switches: 5, quick_retry_delay: 10ms, adapter_patience: 2s}
task_types:
  hedged: {targets: [openai/gpt-6-luna, openai/gpt-6-sol, anthropic/claude-haiku-5-5], hedge: {after: 800ms, max_share: 0.5}}
  hedged_pair: {targets: [openai/gpt-6-luna, anthropic/claude-haiku-5-5], hedge: {after: 800ms, max_share: 0.5}}
  seldom: {targets: [openai/gpt-6-luna, anthropic/claude-haiku-5-5], hedge: {after: 800ms, max_share: 0.02}}
";

/// A router over an adapter that does as it is told.
pub(crate) struct World {
    pub(crate) adapter: Adapter,
    /// The accounts of requests.
    pub(crate) book: Book,
    server: RouterServiceServer<Router>,
    pub(crate) drills: SharedDrills,
    client: RouterServiceClient<Hop>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::admitting(Unlimited)
    }

    /// One whose requests must be admitted.
    pub(crate) fn admitting(admission: impl Admission + 'static) -> Self {
        Self::of(admission, None)
    }

    /// One that keeps answers.
    pub(crate) fn keeping(admission: impl Admission + 'static, shelf: &Shelf) -> Self {
        let hop = hop::local(CacheServiceServer::new(shelf.clone()));
        Self::of(admission, Some(Cache::new(hop, CacheOptions::default(), LIMIT)))
    }

    fn of(admission: impl Admission + 'static, cache: Option<Cache>) -> Self {
        let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
        file.write_all(CONFIG.as_bytes()).unwrap();
        let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH + DAY));
        let config = ConfigHandle::start(Some(file.path().to_owned()), Environment::default(), clock.clone());
        let config = Arc::new(config.unwrap_or_else(|errors| panic!("{errors}")));
        let (adapter, book) = (Adapter::default(), Book::default());
        let drills = SharedDrills::new(config.clone(), clock.clone());
        let dependencies = Dependencies {
            moderator: None,
            config,
            adapter: hop::local(ProviderServiceServer::new(adapter.clone())),
            vendors: signalbox_router::ConfiguredVendors::default(),
            holds: SharedHolds::default(),
            health: SharedHealth::default(),
            drills: drills.clone(),
            usual_costs: UsualCosts::default(),
            cache,
            usage: Arc::new(book.clone()),
            admission: Arc::new(admission),
            clock,
        };
        let server = signalbox_router::server(dependencies, LIMIT);
        let client = RouterServiceClient::new(hop::local(server.clone()));
        Self { adapter, book, server, drills, client }
    }

    /// One whose budget of hedges is full.
    pub(crate) async fn with_hedges() -> Self {
        Self::new().after_many_requests("hedged").await
    }

    /// The same once its budget of hedges is full.
    pub(crate) async fn after_many_requests(self, task_type: &str) -> Self {
        for _ in 0..20 {
            self.stream(task(task_type)).await.unwrap();
        }
        self.adapter.forget();
        self
    }

    pub(crate) fn client(&self) -> RouterServiceClient<Hop> {
        self.client.clone()
    }

    /// The way that somebody with a key has.
    pub(crate) fn client_of(
        &self,
        identity: Identity,
    ) -> RouterServiceClient<InterceptedService<RouterServiceServer<Router>, impl Interceptor>> {
        let identity = Arc::new(identity);
        RouterServiceClient::with_interceptor(self.server.clone(), move |mut request: tonic::Request<()>| {
            request.extensions_mut().insert(identity.clone());
            Ok(request)
        })
    }

    /// Asks for a whole answer.
    pub(crate) async fn ask(&self, request: v1::GenerateRequest) -> Result<Told, Status> {
        let answer = self.client().generate(request).await?.into_inner();
        let text = answer.content.into_iter().filter_map(|part| match part.part {
            Some(v1::part::Part::Text(text)) => Some(text),
            _ => None,
        });
        Ok(Told { text: text.collect(), route: answer.route.unwrap() })
    }

    /// Asks for a stream, and reads it to its end.
    pub(crate) async fn stream(&self, request: v1::GenerateRequest) -> Result<Told, Broken> {
        let request = v1::StreamGenerateRequest { request: Some(request) };
        let opened = self.client().stream_generate(request).await;
        let mut text = String::new();
        let mut events = opened.map_err(|status| Broken { text: String::new(), status })?.into_inner();
        loop {
            match events.message().await {
                Ok(message) => match message.unwrap().event.unwrap() {
                    Event::TextDelta(delta) => text.push_str(&delta.text),
                    Event::Done(done) => return Ok(Told { text, route: done.route.unwrap() }),
                    other => panic!("{other:?}"),
                },
                Err(status) => return Err(Broken { text, status }),
            }
        }
    }
}

/// A good answer.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) route: v1::Route,
}

/// A stream that failed, and what had come.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) text: String,
    pub(crate) status: Status,
}

impl Told {
    pub(crate) fn attempts(&self) -> Vec<String> {
        attempts(&self.route.attempts)
    }
}

/// The attempts that an error tells of.
pub(crate) fn tried(status: &Status) -> Vec<String> {
    let route = signalbox_api::status::detail::<v1::RouteFailure>(status).unwrap_or_default();
    attempts(&route.attempts)
}

/// As `openai FALLBACK VENDOR_ERROR`, without a reason for the one that served.
fn attempts(attempts: &[v1::Attempt]) -> Vec<String> {
    let words = attempts.iter().map(|attempt| {
        let cause = attempt.cause().as_str_name().trim_start_matches("CAUSE_");
        format!("{} {cause} {}", attempt.vendor, attempt.error_reason).trim().to_owned()
    });
    words.collect()
}

/// Of a task type.
pub(crate) fn task(task_type: &str) -> v1::GenerateRequest {
    v1::GenerateRequest { task_type: task_type.to_owned(), ..request() }
}

/// Of an alias.
pub(crate) fn alias(alias: &str) -> v1::GenerateRequest {
    v1::GenerateRequest { model: alias.to_owned(), ..request() }
}

fn request() -> v1::GenerateRequest {
    let text = v1::Part { part: Some(v1::part::Part::Text("Hello?".to_owned())), ..Default::default() };
    let message = v1::Message { role: v1::Role::User as i32, content: vec![text] };
    v1::GenerateRequest { messages: vec![message], ..Default::default() }
}
