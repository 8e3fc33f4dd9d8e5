//! Letters that could not be delivered: stream `USAGE_DEAD`.
//!
//! Each is a `DeadLetter` as protobuf, with its message's place in `USAGE` as `sequence`, under a subject made of its
//! reason, that place and a checksum. The stream takes one message of each subject, so that a letter is set aside once
//! however often it comes, and two streams of events after each other do not hide each other's letters.

use crate::{
    Nats, StreamOptions,
    stream::ensure,
    subjects::{AGAIN, DEAD, DEAD_STREAM, Route},
};
use async_nats::jetstream::{
    Context, ErrorCode,
    message::{PublishMessage, StreamMessage},
    stream::{RawMessageErrorKind, Stream},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use prost::Message as _;
use signalbox_api::v1::{DeadLetter, dead_letter::Reason};
use signalbox_ports::{BusAway, Chosen, DeadLetters, Letter};
use std::{error::Error as _, time::Duration};
use tokio::sync::OnceCell;

/// How long the servers may take to answer.
const PATIENCE: Duration = Duration::from_secs(4);
/// Letters that are put on the bus at a time.
const AT_A_TIME: usize = 16;
/// Letters that are looked up for a replay at once.
const PAGE: usize = 200;
/// A longer explanation is cut.
const LONGEST_DETAIL: usize = 1000;

/// The dead letters of a cluster.
#[derive(Debug)]
pub struct NatsDeadLetters {
    context: Context,
    options: StreamOptions,
    ensured: OnceCell<()>,
}

impl NatsDeadLetters {
    /// Must be called inside the runtime that is to carry it.
    pub fn new(nats: &Nats, options: StreamOptions) -> Self {
        Self { context: nats.jetstream(PATIENCE, 4 * AT_A_TIME), options, ensured: OnceCell::new() }
    }

    async fn ensured(&self) -> Result<(), BusAway> {
        let making = || ensure_both(&self.context, &self.options);
        self.ensured.get_or_try_init(making).await.copied()
    }

    async fn stream(&self) -> Result<Stream, BusAway> {
        self.ensured().await?;
        self.context.get_stream(DEAD_STREAM).await.map_err(away)
    }

    /// The next letter at or after a place, with its own.
    async fn next(
        &self,
        stream: &Stream,
        subject: &str,
        from: u64,
    ) -> Result<Option<StreamMessage>, BusAway> {
        match stream.raw_message_builder().sequence(from).next_by_subject(subject).send().await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(away(error)),
        }
    }

    async fn resend(&self, stream: &Stream, sequence: u64, letter: Letter) -> Result<(), BusAway> {
        let message = PublishMessage::build().message_id(format!("replay-{sequence}")).header(AGAIN, "1");
        let subject = Route::of(&letter.payload).subject;
        let message = message.payload(letter.payload.into());
        self.context.send_publish(subject, message).await.map_err(away)?.await.map_err(away)?;
        self.remove(stream, sequence).await
    }

    async fn remove(&self, stream: &Stream, sequence: u64) -> Result<(), BusAway> {
        stream.delete_message(sequence).await.map(drop).map_err(away)
    }

    /// Does something with each of the letters that are meant. How many that were.
    async fn for_each<F: Future<Output = Result<(), BusAway>>>(
        &self,
        which: &Chosen,
        act: impl Fn(Stream, u64, Letter) -> F,
    ) -> Result<u64, BusAway> {
        let stream = self.stream().await?;
        let all = async |letters: Vec<(u64, Letter)>| {
            let acting = letters.into_iter().map(|(sequence, letter)| act(stream.clone(), sequence, letter));
            let done = stream::iter(acting).buffer_unordered(AT_A_TIME);
            done.try_fold(0, |count, ()| async move { Ok(count + 1) }).await
        };
        let reason = match which {
            Chosen::Sequences(sequences) => return all(self.these(&stream, sequences).await?).await,
            Chosen::Reason(reason) => *reason,
        };
        // Those that fail again come back as new ones, which are left alone.
        let end = stream.cached_info().state.last_sequence;
        let (mut after, mut done) = (0, 0);
        loop {
            let mut page = self.list(Some(reason), after, PAGE).await?;
            page.retain(|(sequence, _)| *sequence <= end);
            let Some((last, _)) = page.last() else { return Ok(done) };
            after = *last;
            done += all(page).await?;
        }
    }

    async fn these(&self, stream: &Stream, sequences: &[u64]) -> Result<Vec<(u64, Letter)>, BusAway> {
        let mut letters = Vec::new();
        for sequence in sequences {
            match stream.get_raw_message(*sequence).await {
                Ok(message) => letters.extend(read(&message)),
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {}
                Err(error) => return Err(away(error)),
            }
        }
        Ok(letters)
    }
}

async fn ensure_both(context: &Context, options: &StreamOptions) -> Result<(), BusAway> {
    for wanted in [options.usage(), options.dead()] {
        Box::pin(ensure(context, &wanted, options)).await.map_err(away)?;
    }
    Ok(())
}

#[async_trait::async_trait]
impl DeadLetters for NatsDeadLetters {
    async fn set_aside(&self, letter: Letter) -> Result<(), BusAway> {
        self.ensured().await?;
        let subject = subject(&letter);
        let limit = self.context.client().server_info().max_payload;
        let letter = DeadLetter::from(fitting(letter, limit));
        let message = PublishMessage::build().payload(letter.encode_to_vec().into());
        let ack = self.context.send_publish(subject, message).await.map_err(away)?;
        match ack.await {
            Ok(_) => Ok(()),
            Err(error) if is_there_already(&error) => Ok(()),
            Err(error) => Err(away(error)),
        }
    }

    async fn list(
        &self,
        reason: Option<Reason>,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, Letter)>, BusAway> {
        let stream = self.stream().await?;
        let subject = format!("{DEAD}.{}.*", reason.map_or("*", |reason| reason.as_str_name()));
        let (mut letters, mut from) = (Vec::new(), after + 1);
        while letters.len() < most {
            let Some(message) = self.next(&stream, &subject, from).await? else { break };
            from = message.sequence + 1;
            letters.extend(read(&message));
        }
        Ok(letters)
    }

    async fn replay(&self, which: &Chosen) -> Result<u64, BusAway> {
        let resend = |stream, sequence, letter| async move { self.resend(&stream, sequence, letter).await };
        self.for_each(which, resend).await
    }

    async fn discard(&self, which: &Chosen) -> Result<u64, BusAway> {
        let remove = |stream, sequence, _| async move { self.remove(&stream, sequence).await };
        self.for_each(which, remove).await
    }
}

fn away(error: impl ToString) -> BusAway {
    BusAway(error.to_string())
}

/// Whether the stream refused a second letter of a subject.
fn is_there_already(error: &async_nats::jetstream::context::PublishError) -> bool {
    let cause = error.source().and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    cause.is_some_and(|cause| {
        cause.error_code() == ErrorCode::STREAM_STORE_FAILED && cause.to_string().contains("per subject")
    })
}

fn subject(letter: &Letter) -> String {
    let (reason, checksum) = (letter.reason.as_str_name(), crc32fast::hash(&letter.payload));
    format!("{DEAD}.{reason}.{}-{checksum:08x}", letter.sequence)
}

/// A letter in the length that the servers take. Of a longer one the beginning is kept, and it says so.
fn fitting(mut letter: Letter, max_payload: usize) -> Letter {
    letter.detail.truncate(letter.detail.floor_char_boundary(LONGEST_DETAIL));
    // The rest is for what stands beside the message.
    let (limit, length) = (max_payload - max_payload / 16, letter.payload.len());
    if length > limit {
        letter.payload.truncate(limit);
        letter.detail = format!("{}; only {limit} of its {length} bytes are kept", letter.detail);
    }
    letter
}

/// A letter with its place. What somebody else put there is none.
fn read(message: &StreamMessage) -> Option<(u64, Letter)> {
    let letter = DeadLetter::decode(message.payload.clone()).ok()?;
    Some((message.sequence, Letter::from_proto(letter, message.time.into())))
}
