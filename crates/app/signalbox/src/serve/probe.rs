//! gRPC health alone, in the clear: probes such as kubelet's know no TLS, and it tells nothing that a connection does not.

use signalbox_kit::{
    access::LoneAuthenticator,
    serve::{self, Entrance},
};
use std::{net::TcpListener, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::pb::health_server::{Health, HealthServer};

/// Answers probes until dropped: also while the process drains, so that they hear of it.
pub(super) async fn answer<H: Health>(listener: TcpListener, health: HealthServer<H>) {
    let everybody = Entrance::Clear(Arc::new(LoneAuthenticator::new(None, false)));
    let routes = Routes::new(health).prepare();
    let ended = serve::serve(listener, everybody, routes, CancellationToken::new(), Duration::ZERO).await;
    if let Err(error) = ended {
        tracing::error!(%error, "gRPC health is not served in the clear");
    }
}
