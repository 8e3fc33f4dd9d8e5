//! Alerts, told once by whichever process is first: stream `SIGNALBOX_ALERTS`.

use crate::{Nats, StreamOptions, stream::ensure, subjects::ALERTS};
use async_nats::jetstream::message::PublishMessage;
use signalbox_ports::BusAway;
use std::time::Duration;

/// How long the servers may take to answer.
const PATIENCE: Duration = Duration::from_secs(4);

impl Nats {
    /// Publishes an alert on `signalbox.alerts.v1`. Whether it is news: nobody has published this `id` within the duplicate
    /// window.
    ///
    /// # Errors
    /// The bus is away; whether it was published is not known. It can be published again under the same id.
    pub async fn publish_alert(
        &self,
        options: &StreamOptions,
        id: &str,
        payload: Vec<u8>,
    ) -> Result<bool, BusAway> {
        let context = self.jetstream(PATIENCE, 1);
        let away = |error: String| BusAway(error);
        ensure(&context, &options.alerts(), options).await.map_err(|error| away(error.to_string()))?;
        let message = PublishMessage::build().payload(payload.into()).message_id(id);
        let sending = context.send_publish(ALERTS, message).await;
        let ack = sending.map_err(|error| away(error.to_string()))?.await;
        ack.map(|ack| !ack.duplicate).map_err(|error| away(error.to_string()))
    }
}
