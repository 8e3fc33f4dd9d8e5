//! Events whose message is not named by their id.
//!
//! The servers know an event again by its `Nats-Msg-Id`. One that was published without, or under another one, by somebody
//! else than a forwarder, would be stored beside its copies. So it is not stored but put on the bus once more, as it should
//! have been at first; where a copy came before, the servers know it then.

use crate::subjects::{AGAIN, Route};
use async_nats::jetstream::{Context, message::PublishMessage};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};

/// Messages that are published at a time.
const AT_A_TIME: usize = 16;

#[derive(Debug)]
pub(super) struct Misnamed {
    pub(super) sequence: u64,
    pub(super) payload: Bytes,
}

/// Publishes events by their ids. Those of them that the stream has now.
pub(super) async fn put_right(context: &Context, misnamed: Vec<Misnamed>) -> Vec<u64> {
    let publishing = misnamed.into_iter().map(|Misnamed { sequence, payload }| {
        publish(context.clone(), payload).map(move |published| published.map(|()| sequence)).boxed()
    });
    let named: Vec<_> = stream::iter(publishing).buffer_unordered(AT_A_TIME).collect().await;
    named.into_iter().flatten().collect()
}

async fn publish(context: Context, payload: Bytes) -> Option<()> {
    let Route { subject, event_id, .. } = Route::of(&payload);
    let message = PublishMessage::build().payload(payload).message_id(event_id?).header(AGAIN, "1");
    let sending = context.send_publish(subject, message).await.ok()?;
    sending.await.map(drop).ok()
}
