//! An application that calls both routers.

use super::system::{Bearer, System};
use futures_util::StreamExt as _;
use signalbox_api::v1::{
    GenerateRequest, GenerateResponse, StreamDone, StreamGenerateRequest,
    router_service_client::RouterServiceClient, stream_generate_response::Event,
};
use signalbox_kit::{Hop, hop};
use signalbox_local::Kind;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tonic::{Code, Status, service::interceptor::InterceptedService};

/// How long it looks for a router that takes its call.
const PATIENCE: Duration = Duration::from_secs(10);

/// Its calls are balanced over the routers, as a headless Service and any gRPC client would. A call that no router has
/// got is made again; one that was under way never is.
#[derive(Debug, Clone)]
pub(super) struct Caller(RouterServiceClient<InterceptedService<Hop, Bearer>>);

impl Caller {
    pub(super) fn of(system: &System, key: &str) -> Self {
        let hop = hop::remote(&system.stack.urls(Kind::Router)).unwrap();
        Self(RouterServiceClient::with_interceptor(hop, Bearer::of(key)))
    }

    /// A whole answer.
    pub(super) async fn call(&self, request: &GenerateRequest) -> Result<GenerateResponse, Status> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.0.clone().generate(request.clone()).await {
                Err(status) if nobody_has(&status) && Instant::now() < until => pause().await,
                answer => return answer.map(tonic::Response::into_inner),
            }
        }
    }

    /// A stream, to its last event.
    pub(super) async fn stream(&self, request: &GenerateRequest) -> Result<StreamDone, Status> {
        let until = Instant::now() + PATIENCE;
        let mut events = loop {
            let request = StreamGenerateRequest { request: Some(request.clone()) };
            match self.0.clone().stream_generate(request).await {
                Err(status) if nobody_has(&status) && Instant::now() < until => pause().await,
                begun => break begun?.into_inner(),
            }
        };
        while let Some(event) = events.next().await {
            if let Some(Event::Done(done)) = event?.event {
                return Ok(done);
            }
        }
        Err(Status::data_loss("the stream ended without a word"))
    }
}

/// Whether a call has reached no router.
fn nobody_has(status: &Status) -> bool {
    status.code() == Code::Unavailable && !hop::was_under_way(status)
}

async fn pause() {
    sleep(Duration::from_millis(20)).await;
}
