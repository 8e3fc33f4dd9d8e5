//! An application that calls all routers.

use signalbox_api::v1::{GenerateRequest, router_service_client::RouterServiceClient};
use signalbox_kit::{Hop, hop};
use signalbox_local::{Kind, Stack};
use signalbox_testkit::{
    Key,
    ask::{Answer, Mode, ask},
};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tonic::{Status, service::interceptor::InterceptedService};

/// How long it looks for a router that takes its call.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// Its calls are balanced over the routers, as any gRPC client balances them over the addresses of a headless Service.
/// A call that no router has got is made again; one that was under way never is.
#[derive(Debug, Clone)]
pub struct Caller(RouterServiceClient<InterceptedService<Hop, Key>>);

impl Caller {
    /// As whom the key belongs to.
    ///
    /// # Errors
    /// The routers' addresses cannot be used.
    pub fn new(stack: &Stack, key: &str) -> Result<Self, String> {
        let hop = hop::remote(&stack.urls(Kind::Router)).map_err(|error| error.to_string())?;
        Ok(Self(RouterServiceClient::with_interceptor(hop, Key::new(key))))
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// The status that the call or the stream ended with.
    pub async fn ask(&self, mode: Mode, request: &GenerateRequest) -> Result<Answer, Status> {
        let until = Instant::now() + PATIENCE;
        loop {
            match ask(&mut self.0.clone(), mode, request.clone()).await {
                Err(status) if hop::was_never_sent(&status) && Instant::now() < until => sleep(PAUSE).await,
                answer => return answer,
            }
        }
    }
}
