//! The streams: made where they are missing, brought in line where they can be, refused where they cannot.
//!
//! `USAGE` is a work queue: a message stays until an ingester has stored it, for as long as that takes, and leaves then. So
//! the stream is as large as what waits. Reading on is for the store, hearing on for the tail. When it is full it refuses
//! new messages, which then wait in the spools. `USAGE_DEAD` keeps letters until they are put on the bus again.
//!
//! Every forwarder and ingester calls [`ensure`]; the servers make the same change by several the same as by one.

use crate::subjects::{ALERTS, ALERTS_STREAM, DEAD, DEAD_STREAM, EVENTS, TAIL, USAGE_STREAM};
use async_nats::jetstream::{
    Context, ErrorCode,
    context::{CreateStreamError, CreateStreamErrorKind, GetStreamErrorKind},
    stream::{Config, DiscardPolicy, Republish, RetentionPolicy, StorageType},
};
use std::time::Duration;

/// Bytes of events that may wait, where nothing else is said.
const MAX_BYTES: u64 = 1 << 30;
/// Dead letters get this share of what events get.
const DEAD_SHARE: u64 = 8;
/// For how long the servers know an event's id again, where nothing else is said.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(600);
/// Copies in a cluster, where nothing else is said.
const REPLICAS: usize = 3;

/// What operators may choose. What they leave out is chosen when a stream is made, and left alone later.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// Copies of each message; three in a cluster and one without by default.
    pub replicas: Option<usize>,
    /// Bytes of events that may wait; 1 GiB by default. The servers set them aside, and an eighth for dead letters.
    pub max_bytes: Option<u64>,
    /// For how long the servers know an event's id again.
    pub duplicate_window: Duration,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { replicas: None, max_bytes: None, duplicate_window: DUPLICATE_WINDOW }
    }
}

impl StreamOptions {
    /// The stream of events.
    pub(crate) fn usage(&self) -> Wanted {
        let tail = Republish {
            source: format!("{EVENTS}.>"),
            destination: format!("{TAIL}.>"),
            headers_only: false,
        };
        Wanted(Config {
            description: Some("Signalbox: accounts of requests that wait for the store".to_owned()),
            subjects: vec![format!("{EVENTS}.*")],
            retention: RetentionPolicy::WorkQueue,
            republish: Some(tail),
            ..self.common(USAGE_STREAM, self.max_bytes.unwrap_or(MAX_BYTES))
        })
    }

    /// The stream of dead letters: one of each name.
    pub(crate) fn dead(&self) -> Wanted {
        Wanted(Config {
            description: Some("Signalbox: accounts that could not be stored".to_owned()),
            subjects: vec![format!("{DEAD}.*.*")],
            max_messages_per_subject: 1,
            discard_new_per_subject: true,
            ..self.common(DEAD_STREAM, self.max_bytes.unwrap_or(MAX_BYTES) / DEAD_SHARE)
        })
    }

    /// The stream of alerts, of the last week.
    pub(crate) fn alerts(&self) -> Wanted {
        Wanted(Config {
            description: Some("Signalbox: alerts".to_owned()),
            subjects: vec![ALERTS.to_owned()],
            discard: DiscardPolicy::Old,
            max_age: Duration::from_secs(7 * 24 * 3600),
            ..self.common(ALERTS_STREAM, 64 << 20)
        })
    }

    fn common(&self, name: &str, max_bytes: u64) -> Config {
        Config {
            name: name.to_owned(),
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            duplicate_window: self.duplicate_window,
            max_bytes: i64::try_from(max_bytes).unwrap_or(i64::MAX),
            max_messages: -1,
            max_messages_per_subject: -1,
            max_message_size: -1,
            max_consumers: -1,
            num_replicas: self.replicas.unwrap_or(REPLICAS),
            ..Config::default()
        }
    }
}

/// Why a stream cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// Somebody has made it otherwise, in a way that cannot be changed, or the servers refuse it.
    #[error("NATS stream {stream}: {problem}")]
    Refused {
        /// Its name.
        stream: String,
        /// What stands in the way, and what to do.
        problem: String,
    },
    /// The servers do not answer.
    #[error("NATS stream {stream}: {error}")]
    Away {
        /// Its name.
        stream: String,
        /// What came instead of an answer.
        error: String,
    },
}

/// A stream as it should be.
#[derive(Debug)]
pub(crate) struct Wanted(Config);

impl Wanted {
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    fn refused(&self, problem: impl Into<String>) -> StreamError {
        StreamError::Refused { stream: self.0.name.clone(), problem: problem.into() }
    }

    fn away(&self, error: impl ToString) -> StreamError {
        StreamError::Away { stream: self.0.name.clone(), error: error.to_string() }
    }

    /// A stream that is there, with what must be as it should be. Options that nobody chose are left as they are.
    fn adapt(&self, found: &Config, options: &StreamOptions) -> Result<Config, StreamError> {
        let wanted = &self.0;
        if found.storage != wanted.storage {
            return Err(self.refused("is kept in memory; delete it, so that it is made anew on disk"));
        }
        if found.retention != wanted.retention {
            let (has, wants) = (found.retention, wanted.retention);
            return Err(self.refused(format!(
                "has retention {has:?} in place of {wants:?}, which cannot be changed; delete it once it is empty"
            )));
        }
        if found.mirror.is_some() || found.sealed {
            return Err(self.refused("is a mirror or sealed; delete it, so that it is made anew"));
        }
        let mut subjects = found.subjects.clone();
        let missing = wanted.subjects.iter().filter(|subject| !found.subjects.contains(subject));
        subjects.extend(missing.cloned());
        Ok(Config {
            subjects,
            discard: wanted.discard,
            discard_new_per_subject: wanted.discard_new_per_subject,
            max_messages: wanted.max_messages,
            max_messages_per_subject: wanted.max_messages_per_subject,
            max_message_size: wanted.max_message_size,
            max_age: wanted.max_age,
            duplicate_window: wanted.duplicate_window,
            republish: wanted.republish.clone(),
            no_ack: false,
            deny_delete: false,
            max_bytes: options.max_bytes.map_or(found.max_bytes, |_| wanted.max_bytes),
            num_replicas: options.replicas.unwrap_or(found.num_replicas),
            ..found.clone()
        })
    }

    fn failed(&self, error: &CreateStreamError) -> StreamError {
        match error.kind() {
            CreateStreamErrorKind::JetStream(error) => match error.error_code() {
                ErrorCode::CLUSTER_NO_PEERS => self.refused(format!(
                    "{error}: fewer servers with JetStream and room for it than nats.replicas, which is 3 by default"
                )),
                ErrorCode::STORAGE_RESOURCES_EXCEEDED => {
                    self.refused(format!("{error}: nats.max_bytes is more than the servers may keep"))
                }
                ErrorCode::CLUSTER_NOT_AVAILABLE | ErrorCode::CLUSTER_NOT_LEADER => self.away(error),
                _ => self.refused(error.to_string()),
            },
            _ => self.away(error),
        }
    }
}

/// Makes a stream, or brings it in line.
pub(crate) async fn ensure(
    context: &Context,
    wanted: &Wanted,
    options: &StreamOptions,
) -> Result<(), StreamError> {
    match context.get_stream(wanted.name()).await {
        Ok(stream) => bring_in_line(context, wanted, options, &stream.cached_info().config).await,
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                create(context, wanted, options).await
            }
            _ => Err(wanted.away(error)),
        },
    }
}

async fn bring_in_line(
    context: &Context,
    wanted: &Wanted,
    options: &StreamOptions,
    found: &Config,
) -> Result<(), StreamError> {
    let adapted = wanted.adapt(found, options)?;
    if adapted == *found {
        return Ok(());
    }
    tracing::info!(stream = wanted.name(), "the NATS stream was configured otherwise and is brought in line");
    context.update_stream(adapted).await.map(drop).map_err(|error| wanted.failed(&error))
}

async fn create(context: &Context, wanted: &Wanted, options: &StreamOptions) -> Result<(), StreamError> {
    let mut config = wanted.0.clone();
    loop {
        let Err(error) = context.create_stream(config.clone()).await else { return Ok(()) };
        let code = match error.kind() {
            CreateStreamErrorKind::JetStream(error) => Some(error.error_code()),
            _ => None,
        };
        match code {
            // A server that stands alone.
            Some(ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED)
                if options.replicas.is_none() && config.num_replicas > 1 =>
            {
                config.num_replicas = 1;
            }
            // Another process was faster, with options of its own: the next look finds what it made.
            Some(ErrorCode::STREAM_NAME_EXIST) => return Err(wanted.away(error)),
            _ => return Err(wanted.failed(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapt(found: &Config, options: &StreamOptions) -> Result<Config, StreamError> {
        options.usage().adapt(found, options)
    }

    #[test]
    fn what_operators_did_not_say_is_left_as_it_is() {
        let tuned = Config { max_bytes: 77, num_replicas: 5, ..StreamOptions::default().usage().0 };
        assert_eq!(adapt(&tuned, &StreamOptions::default()).unwrap(), tuned);
        let said = StreamOptions { replicas: Some(1), max_bytes: Some(1 << 20), ..StreamOptions::default() };
        let adapted = adapt(&tuned, &said).unwrap();
        assert_eq!((adapted.max_bytes, adapted.num_replicas), (1 << 20, 1));
    }

    #[test]
    fn a_stream_that_could_lose_messages_silently_is_brought_in_line() {
        let options = StreamOptions::default();
        let wanted = options.usage().0;
        let found = Config {
            discard: DiscardPolicy::Old,
            max_age: Duration::from_secs(60),
            max_messages: 10,
            no_ack: true,
            duplicate_window: Duration::from_secs(1),
            subjects: vec!["other".to_owned()],
            republish: None,
            ..wanted.clone()
        };
        let subjects = vec!["other".to_owned(), "signalbox.usage.v1.*".to_owned()];
        assert_eq!(adapt(&found, &options).unwrap(), Config { subjects, ..wanted });
    }

    #[test]
    fn what_cannot_be_changed_is_told_with_what_to_do() {
        let options = StreamOptions::default();
        let limits = Config { retention: RetentionPolicy::Limits, ..options.usage().0 };
        let error = adapt(&limits, &options).unwrap_err().to_string();
        assert!(
            error.contains("USAGE") && error.contains("Limits") && error.contains("WorkQueue"),
            "{error}"
        );
        let memory = Config { storage: StorageType::Memory, ..options.usage().0 };
        assert!(adapt(&memory, &options).unwrap_err().to_string().contains("in memory"));
    }
}
