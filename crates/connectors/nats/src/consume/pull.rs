//! Asking the consumer for messages.

use super::{ConsumerOptions, PATIENCE, place::Place};
use crate::{
    Nats, StreamError,
    subjects::{CONSUMER, USAGE_STREAM},
};
use async_nats::{
    Message, StatusCode, Subject, Subscriber,
    jetstream::{
        Context,
        consumer::{
            AckPolicy, PullConsumer,
            pull::{BatchConfig, Config},
        },
        stream::ConsumerErrorKind,
    },
};
use futures_util::{FutureExt as _, StreamExt as _};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Most messages asked for at once: what the connection can buffer with room to spare.
const MOST: usize = 10_000;
/// The shortest time that a server is asked to wait for messages.
const SHORTEST: Duration = Duration::from_millis(1);
/// Before asking anew after an answer that is none, as while a leader is chosen.
const PAUSE: Duration = Duration::from_millis(50);

/// The connection's end of the consumer. Answers to a request that is over still arrive and are taken with the next.
#[derive(Debug)]
pub(super) struct Puller {
    consumer: PullConsumer,
    inbox: String,
    answers: Subscriber,
    request: u64,
}

/// What came.
#[derive(Debug, Default)]
pub(super) struct Pulled {
    pub(super) messages: Vec<(Message, Place)>,
    /// Why there is not more.
    pub(super) problem: Option<String>,
    /// The consumer must be made anew.
    pub(super) lost: bool,
}

impl Puller {
    pub(super) async fn start(
        nats: &Nats,
        context: &Context,
        options: &ConsumerOptions,
    ) -> Result<Self, StreamError> {
        let config = Config {
            durable_name: Some(CONSUMER.to_owned()),
            description: Some("Signalbox: what stores accounts".to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: options.ack_wait,
            max_deliver: -1,
            max_ack_pending: i64::try_from(options.max_ack_pending).unwrap_or(i64::MAX),
            ..Config::default()
        };
        let away = |error: String| StreamError::Away { stream: USAGE_STREAM.to_owned(), error };
        let consumer = context.create_consumer_on_stream(config, USAGE_STREAM).await.map_err(|error| {
            match error.kind() {
                ConsumerErrorKind::JetStream(error) => StreamError::Refused {
                    stream: USAGE_STREAM.to_owned(),
                    problem: format!("consumer {CONSUMER}: {error}"),
                },
                _ => away(error.to_string()),
            }
        })?;
        let inbox = nats.client().new_inbox();
        let subscription = nats.client().subscribe(format!("{inbox}.*"));
        let answers = subscription.await.map_err(|error| away(error.to_string()))?;
        Ok(Self { consumer, inbox, answers, request: 0 })
    }

    /// Up to `most` messages, until `end`.
    pub(super) async fn pull(&mut self, most: usize, end: Instant) -> Pulled {
        let mut pulled = Pulled::default();
        let mut asked = 0;
        while pulled.messages.len() < most && !pulled.lost {
            if asked == 0 {
                self.take_late(most, &mut pulled);
                asked = (most - pulled.messages.len()).min(MOST);
                if asked == 0 || !self.ask(asked, end, &mut pulled).await {
                    break;
                }
            }
            match timeout_at(end, self.answers.next()).await {
                Ok(Some(message)) if message.status.is_some_and(|status| status != StatusCode::OK) => {
                    if self.about_this_request(&message) {
                        asked = 0;
                        pulled.status(&message);
                        if pulled.problem.is_some() {
                            sleep(PAUSE).await;
                        }
                    }
                }
                Ok(Some(message)) => {
                    asked -= 1;
                    pulled.message(message);
                }
                Ok(None) => pulled.lost = true,
                Err(_over) => break,
            }
        }
        pulled
    }

    /// What still came of earlier requests.
    fn take_late(&mut self, most: usize, pulled: &mut Pulled) {
        while pulled.messages.len() < most
            && let Some(Some(message)) = self.answers.next().now_or_never()
        {
            if message.status.is_none_or(|status| status == StatusCode::OK) {
                pulled.message(message);
            }
        }
    }

    /// Whether there was still time to ask.
    async fn ask(&mut self, most: usize, end: Instant, pulled: &mut Pulled) -> bool {
        let left = end.saturating_duration_since(Instant::now());
        if left < SHORTEST {
            return false;
        }
        self.request += 1;
        let inbox = Subject::from(format!("{}.{}", self.inbox, self.request));
        let batch = BatchConfig { batch: most, expires: Some(left), ..BatchConfig::default() };
        pulled.problem = match timeout(PATIENCE, self.consumer.request_batch(batch, inbox)).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("NATS does not take messages".to_owned()),
        };
        false
    }

    fn about_this_request(&self, message: &Message) -> bool {
        let request = message.subject.rsplit('.').next();
        request.and_then(|number| number.parse().ok()) == Some(self.request)
    }

    /// How many messages wait for an ingester.
    pub(super) async fn pending(&self) -> Option<u64> {
        self.consumer.get_info().await.ok().map(|info| info.num_pending)
    }
}

impl Pulled {
    /// One that does not tell its place in the stream is none.
    fn message(&mut self, message: Message) {
        if let Some(place) = message.reply.as_ref().and_then(Place::of) {
            self.messages.push((message, place));
        }
    }

    /// The server has ended the request.
    fn status(&mut self, message: &Message) {
        match message.status {
            Some(StatusCode::TIMEOUT | StatusCode::NOT_FOUND) => {}
            Some(StatusCode::NO_RESPONDERS) => {
                self.problem = Some(format!("nobody answers for consumer {CONSUMER}"));
                self.lost = true;
            }
            _ => {
                let why = message.description.clone().unwrap_or_default();
                self.lost = why.contains("Deleted");
                self.problem = Some(why);
            }
        }
    }
}
