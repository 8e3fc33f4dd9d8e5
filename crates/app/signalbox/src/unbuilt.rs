//! Services of the contract that are not built yet: they are there, and every method says so.

use http::{Request, Response};
use signalbox_api::{status::unimplemented, v1};
use std::{
    convert::Infallible,
    future::{Ready, ready},
    marker::PhantomData,
    task::{Context, Poll},
};
use tonic::{body::Body, server::NamedService, service::RoutesBuilder};
use tower::Service;
use v1::batch_service_server::BatchServiceServer;

/// Adds a stand-in for every service that is not built yet.
pub(crate) fn add_to(routes: &mut RoutesBuilder) {
    routes.add_service(Unbuilt::<BatchServiceServer<()>>::new());
}

/// Answers every method of the service that `S` would serve with `UNIMPLEMENTED`.
struct Unbuilt<S>(PhantomData<fn() -> S>);

impl<S> Unbuilt<S> {
    fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S> Clone for Unbuilt<S> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<S: NamedService> NamedService for Unbuilt<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Unbuilt<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let method = request.uri().path().trim_start_matches('/');
        ready(Ok(unimplemented(method).into_http()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::status::from_status;
    use signalbox_types::ErrorReason;
    use tonic::service::Routes;

    async fn answer_of<S: NamedService>(method: &str) -> tonic::Status {
        let mut routes = Routes::builder();
        add_to(&mut routes);
        let path = format!("/{}/{method}", S::NAME);
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let mut routes = routes.routes();
        let response = Service::<Request<Body>>::call(&mut routes, request).await.unwrap();
        tonic::Status::from_header_map(response.headers()).unwrap()
    }

    #[tokio::test]
    async fn every_unbuilt_service_names_the_method_and_the_reason() {
        let failure = from_status(&answer_of::<BatchServiceServer<()>>("Submit").await);
        assert_eq!(failure.reason, ErrorReason::Unimplemented);
        assert_eq!(failure.message, "signalbox.v1.BatchService/Submit is not built yet");
    }
}
