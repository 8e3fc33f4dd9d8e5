//! Long answers, and keys that are taken back while they come.

use super::super::{AccessLayer, held::LOOK_EVERY};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use signalbox_api::status::from_status;
use signalbox_ports::{Authenticator, Identity, Scope};
use signalbox_types::{ErrorReason, Failure};
use std::{
    convert::Infallible,
    net::IpAddr,
    sync::{Arc, Mutex},
};
use tonic::{Status, body::Body};
use tower::{Layer as _, Service as _};

/// Lets everybody in until there is a reason not to.
#[derive(Debug, Clone, Default)]
struct Door(Arc<Mutex<Option<ErrorReason>>>);

#[async_trait::async_trait]
impl Authenticator for Door {
    async fn authenticate(&self, key: Option<&str>, _: Option<IpAddr>) -> Result<Arc<Identity>, Failure> {
        assert_eq!(key, Some("k"));
        match *self.0.lock().unwrap() {
            Some(reason) => Err(Failure::new(reason, "no")),
            None => Ok(Arc::new(Identity { key_id: "k".into(), scope: Scope::Admin })),
        }
    }
}

/// The answer of a method that says one thing and then nothing more, without an end.
async fn open_answer(door: &Door) -> Body {
    let endless = tower::service_fn(async |_: Request<Body>| {
        let said = futures_util::stream::iter([Ok::<_, Status>(Frame::data(Bytes::from_static(b"one")))]);
        let endless = futures_util::StreamExt::chain(said, futures_util::stream::pending());
        Ok::<_, Infallible>(Response::new(Body::new(StreamBody::new(endless))))
    });
    let mut service = AccessLayer::new(Arc::new(door.clone())).layer(endless);
    let call = Request::builder().uri("/s/Follow").header("authorization", "Bearer k").body(Body::empty());
    let mut answer = service.call(call.unwrap()).await.unwrap().into_body();
    assert!(answer.frame().await.unwrap().unwrap().is_data());
    answer
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_ends_within_seconds_of_its_key_being_revoked() {
    let door = Door::default();
    let mut answer = open_answer(&door).await;
    assert!(tokio::time::timeout(LOOK_EVERY * 5, answer.frame()).await.is_err(), "the key is good");
    *door.0.lock().unwrap() = Some(ErrorReason::Unauthenticated);
    let end = tokio::time::timeout(LOOK_EVERY * 2, answer.frame()).await.unwrap().unwrap().unwrap();
    let status = Status::from_header_map(end.trailers_ref().unwrap()).unwrap();
    assert_eq!(from_status(&status).reason, ErrorReason::Unauthenticated);
    assert!(answer.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_stays_while_it_cannot_be_found_out_who_calls() {
    let door = Door::default();
    let mut answer = open_answer(&door).await;
    *door.0.lock().unwrap() = Some(ErrorReason::Unavailable);
    assert!(tokio::time::timeout(LOOK_EVERY * 5, answer.frame()).await.is_err());
}
