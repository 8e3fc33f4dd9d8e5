//! What adapters see of vendors, told to every process that listens.
//!
//! Each adapter publishes on `signalbox.health.v1.<adapter_id>`: a `WatchHealthResponse` as protobuf. Core NATS, nothing
//! is kept: a report is news for seconds only, and the next one says everything again.

use crate::Nats;
use async_nats::{Message, SubscribeError};
use futures_util::{Stream, StreamExt};
use prost::Message as _;
use signalbox_api::v1::WatchHealthResponse;
use std::future::ready;

/// First part of every subject.
const SUBJECT: &str = "signalbox.health.v1";
/// A report with two full sketches has some nine kilobytes.
const LARGEST_REPORT: usize = 32 * 1024;

impl Nats {
    /// Tells the others. While no server is connected the report is dropped.
    pub async fn publish_health(&self, report: &WatchHealthResponse) {
        if !self.is_connected() {
            return;
        }
        let subject = format!("{SUBJECT}.{}", report.adapter_id);
        if let Err(error) = self.client().publish(subject, report.encode_to_vec().into()).await {
            tracing::debug!(%error, "a health report was not published");
        }
    }

    /// Hears the others, through all losses of the connection.
    pub async fn follow_health(
        &self,
    ) -> Result<impl Stream<Item = WatchHealthResponse> + Send + Unpin + use<>, SubscribeError> {
        let messages = self.client().subscribe(format!("{SUBJECT}.*")).await?;
        Ok(messages.filter_map(|message| ready(read(&message))))
    }
}

/// The report in a message. One that cannot be read, or is by somebody else than its subject says, is none.
fn read(message: &Message) -> Option<WatchHealthResponse> {
    if message.payload.len() > LARGEST_REPORT {
        return None;
    }
    let report = WatchHealthResponse::decode(message.payload.clone()).ok()?;
    let sender = message.subject.strip_prefix(SUBJECT)?.strip_prefix('.')?;
    (sender == report.adapter_id).then_some(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_nats::Subject;

    fn message(subject: &str, payload: Vec<u8>) -> Message {
        let length = payload.len();
        Message {
            subject: Subject::from(subject),
            payload: payload.into(),
            reply: None,
            headers: None,
            status: None,
            description: None,
            length,
        }
    }

    #[test]
    fn only_a_report_by_the_sender_of_the_subject_is_taken() {
        let report = WatchHealthResponse { adapter_id: "a1".to_owned(), calls: 3, ..Default::default() };
        let bytes = report.encode_to_vec();
        assert_eq!(read(&message("signalbox.health.v1.a1", bytes.clone())), Some(report));
        assert_eq!(read(&message("signalbox.health.v1.b2", bytes.clone())), None);
        assert_eq!(read(&message("other.a1", bytes)), None);
        assert_eq!(read(&message("signalbox.health.v1.a1", vec![0xff; 40])), None);
        assert_eq!(read(&message("signalbox.health.v1.a1", vec![0; LARGEST_REPORT + 1])), None);
    }
}
