//! An application that calls both routers.

use super::system::System;
use signalbox_api::v1::{GenerateRequest, router_service_client::RouterServiceClient};
use signalbox_kit::{Hop, hop};
use signalbox_local::Kind;
use signalbox_testkit::{
    Key,
    ask::{Answer, Mode, ask},
};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tonic::{Status, service::interceptor::InterceptedService};

/// How long it looks for a router that takes its call.
const PATIENCE: Duration = Duration::from_secs(10);

/// Its calls are balanced over the routers, as a headless Service and any gRPC client would. A call that no router has
/// got is made again; one that was under way never is.
#[derive(Debug, Clone)]
pub(super) struct Caller(RouterServiceClient<InterceptedService<Hop, Key>>);

impl Caller {
    pub(super) fn of(system: &System, key: &str) -> Self {
        let hop = hop::remote(&system.stack.urls(Kind::Router)).unwrap();
        Self(RouterServiceClient::with_interceptor(hop, Key::new(key)))
    }

    /// The answer to a request.
    pub(super) async fn ask(&self, mode: Mode, request: &GenerateRequest) -> Result<Answer, Status> {
        let until = Instant::now() + PATIENCE;
        loop {
            match ask(&mut self.0.clone(), mode, request.clone()).await {
                Err(status) if hop::was_never_sent(&status) && Instant::now() < until => {
                    sleep(Duration::from_millis(20)).await;
                }
                answer => return answer,
            }
        }
    }
}
