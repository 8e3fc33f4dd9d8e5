//! Asking the consumer for messages.

use super::{ConsumerOptions, PATIENCE, place::Place};
use crate::{
    Nats, StreamError,
    subjects::{CONSUMER, USAGE_STREAM},
};
use async_nats::{
    Message, StatusCode, Subject, Subscriber,
    jetstream::{
        Context, ErrorCode,
        consumer::{
            AckPolicy, Info, PullConsumer,
            pull::{BatchConfig, Config},
        },
        stream::{ConsumerError, ConsumerErrorKind},
    },
};
use futures_util::{FutureExt as _, StreamExt as _};
use signalbox_ports::BusAway;
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
    /// There was no consumer before.
    pub(super) is_first: bool,
    consumer: PullConsumer,
    config: Config,
    inbox: String,
    answers: Subscriber,
    request: u64,
    asked_at: Instant,
}

/// What came.
#[derive(Debug, Default)]
pub(super) struct Pulled {
    pub(super) messages: Vec<(Message, Place)>,
    /// That many of them, the first, came before they were asked for now.
    pub(super) late: usize,
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
        let found = context.get_consumer_from_stream::<Config, _, _>(CONSUMER, USAGE_STREAM).await;
        let found = match found {
            Ok(found) => Some(found.cached_info().config.metadata.clone()),
            Err(error) if is_missing(&error) => None,
            Err(error) => return Err(failed(error)),
        };
        let is_first = found.is_none();
        let metadata = found.unwrap_or_default();
        let config = Config {
            durable_name: Some(CONSUMER.to_owned()),
            description: Some("Signalbox: what stores accounts".to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: options.ack_wait,
            max_deliver: -1,
            max_ack_pending: i64::try_from(options.max_ack_pending).unwrap_or(i64::MAX),
            metadata,
            ..Config::default()
        };
        let consumer =
            context.create_consumer_on_stream(config.clone(), USAGE_STREAM).await.map_err(failed)?;
        let inbox = nats.client().new_inbox();
        let subscription = nats.client().subscribe(format!("{inbox}.*"));
        let answers = subscription.await.map_err(|error| away(error.to_string()))?;
        Ok(Self { is_first, consumer, config, inbox, answers, request: 0, asked_at: Instant::now() })
    }

    /// What the servers say of the consumer now.
    pub(super) async fn info(&self) -> Result<Info, BusAway> {
        self.consumer.get_info().await.map_err(|error| BusAway(error.to_string()))
    }

    /// Keeps a word with the consumer, for the other ingesters.
    pub(super) async fn note(&self, context: &Context, key: &str, word: String) -> Result<(), BusAway> {
        let mut config = self.config.clone();
        config.metadata.insert(key.to_owned(), word);
        let noted = Box::pin(context.create_consumer_on_stream(config, USAGE_STREAM)).await;
        noted.map(drop).map_err(|error| BusAway(error.to_string()))
    }

    /// Up to `most` messages, until `end`.
    pub(super) async fn pull(&mut self, most: usize, end: Instant) -> Pulled {
        let mut pulled = self.late(most);
        let mut asked = 0;
        while pulled.messages.len() < most && !pulled.lost {
            if asked == 0 {
                asked = (most - pulled.messages.len()).min(MOST);
                if !self.ask(asked, end, &mut pulled).await {
                    break;
                }
            }
            let Ok(answer) = timeout_at(end, self.answers.next()).await else { break };
            match answer {
                Some(message) if !is_status(&message) => {
                    asked -= 1;
                    pulled.message(message);
                }
                Some(status) if self.is_about_this_request(&status) => {
                    asked = 0;
                    pulled.status(&status);
                    if pulled.problem.is_some() {
                        sleep(PAUSE).await;
                    }
                }
                Some(_) => {}
                None => pulled.lost = true,
            }
        }
        pulled
    }

    /// What came of the request before, after it was over. When that is long ago, others may have got it by now.
    fn late(&mut self, most: usize) -> Pulled {
        let is_ours = self.asked_at.elapsed() < self.config.ack_wait / 2;
        let mut pulled = Pulled::default();
        while pulled.messages.len() < most
            && let Some(Some(message)) = self.answers.next().now_or_never()
        {
            if is_ours && !is_status(&message) {
                pulled.message(message);
            }
        }
        pulled.late = pulled.messages.len();
        pulled
    }

    /// Whether there was still time to ask.
    async fn ask(&mut self, most: usize, end: Instant, pulled: &mut Pulled) -> bool {
        let left = end.saturating_duration_since(Instant::now());
        if left < SHORTEST {
            return false;
        }
        self.request += 1;
        self.asked_at = Instant::now();
        let inbox = Subject::from(format!("{}.{}", self.inbox, self.request));
        let batch = BatchConfig { batch: most, expires: Some(left), ..BatchConfig::default() };
        pulled.problem = match timeout(PATIENCE, self.consumer.request_batch(batch, inbox)).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("NATS does not take messages".to_owned()),
        };
        false
    }

    fn is_about_this_request(&self, message: &Message) -> bool {
        let request = message.subject.rsplit('.').next();
        request.and_then(|number| number.parse().ok()) == Some(self.request)
    }
}

fn is_status(message: &Message) -> bool {
    message.status.is_some_and(|status| status != StatusCode::OK)
}

fn away(error: String) -> StreamError {
    StreamError::Away { stream: USAGE_STREAM.to_owned(), error }
}

fn is_missing(error: &ConsumerError) -> bool {
    matches!(error.kind(), ConsumerErrorKind::JetStream(error)
        if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND)
}

fn failed(error: ConsumerError) -> StreamError {
    match error.kind() {
        ConsumerErrorKind::JetStream(error) => StreamError::Refused {
            stream: USAGE_STREAM.to_owned(),
            problem: format!("consumer {CONSUMER}: {error}"),
        },
        _ => away(error.to_string()),
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
