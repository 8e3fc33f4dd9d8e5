//! Alerts, told once by whichever process is first: stream `SIGNALBOX_ALERTS`.

use crate::{Nats, StreamOptions, stream::ensure, subjects::ALERTS};
use async_nats::jetstream::message::PublishMessage;
use prost::Message as _;
use signalbox_ports::{AlertBus, AlertNews, BusAway};
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
        let made = Box::pin(ensure(&context, &options.alerts(), options)).await;
        made.map_err(|error| away(error.to_string()))?;
        let message = PublishMessage::build().payload(payload.into()).message_id(id);
        let sending = context.send_publish(ALERTS, message).await;
        let ack = sending.map_err(|error| away(error.to_string()))?.await;
        ack.map(|ack| !ack.duplicate).map_err(|error| away(error.to_string()))
    }
}

/// Where the processes of a cluster tell alerts, each as a `signalbox.v1.Alert` in protobuf.
#[derive(Debug)]
pub struct NatsAlerts {
    nats: Nats,
    options: StreamOptions,
}

impl NatsAlerts {
    /// On this connection.
    pub fn new(nats: Nats, options: StreamOptions) -> Self {
        Self { nats, options }
    }
}

#[async_trait::async_trait]
impl AlertBus for NatsAlerts {
    async fn publish(&self, news: &AlertNews) -> Result<bool, BusAway> {
        self.nats.publish_alert(&self.options, &news.id, news.alert.encode_to_vec()).await
    }
}
