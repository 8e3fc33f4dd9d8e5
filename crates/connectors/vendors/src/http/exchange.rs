//! An answer of which the head has arrived.

use super::{
    bulkhead::Place,
    cause::Cause,
    limits::{Limits, Stage},
    secrets::Secrets,
    stream::HttpAnswerStream,
};
use crate::codec::{Codec, ResponseHead, StreamDecoder};
use ::http::HeaderMap;
use bytes::Bytes;
use signalbox_ports::{BoxAnswerStream, VendorReply};
use signalbox_types::{Adjustment, ErrorReason, Failure, ModelAnswer};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, timeout, timeout_at};

/// Most bytes of a whole answer.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;
/// Most bytes of a failure's body that are looked at.
const FAILURE_LIMIT: usize = 1024 * 1024;
/// How long a failure's body is waited for: its status is here, and another vendor may be waiting to be asked.
const FAILURE_TIME: Duration = Duration::from_secs(1);
/// Where vendors put their id of a request: OpenAI and xAI the first, Anthropic the second.
const REQUEST_ID_HEADERS: [&str; 2] = ["x-request-id", "request-id"];

/// Which call of whom, and what the head of its answer told. All that a vendor says passes here on its way out: answers
/// and failures are signed, and rid of our key.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) vendor: Arc<str>,
    pub(super) secrets: Arc<Secrets>,
    request_id: String,
    quota_left: Option<f64>,
}

impl Origin {
    /// A failure of this call.
    pub(super) fn failure(&self, reason: ErrorReason, what: impl std::fmt::Display) -> Failure {
        self.sign(Failure::new(reason, format!("vendor `{}`: {what}", self.vendor)))
    }

    /// The answer of this call.
    pub(super) fn reply<T>(self, value: T, adjustments: Vec<Adjustment>) -> VendorReply<T> {
        VendorReply { value, adjustments, request_id: self.request_id, quota_left: self.quota_left }
    }

    /// Adds what is known of the call; the vendor's request id where the failure has none.
    pub(super) fn sign(&self, mut failure: Failure) -> Failure {
        failure.quota_left_percent = self.quota_left.map(percent);
        if failure.vendor_request_id.is_empty() {
            failure.vendor_request_id.clone_from(&self.request_id);
        }
        self.secrets.mask_failure(&mut failure);
        failure
    }
}

/// A call under way: its head has arrived, its body is to be read. Dropping it stops the call.
pub(super) struct Exchange {
    pub(super) origin: Origin,
    pub(super) response: reqwest::Response,
    pub(super) limits: Limits,
    /// The place in the bulkhead, until it is left.
    pub(super) place: Option<Place>,
}

impl Exchange {
    pub(super) fn new(
        vendor: Arc<str>,
        secrets: Arc<Secrets>,
        codec: &dyn Codec,
        response: reqwest::Response,
        limits: Limits,
        place: Place,
    ) -> Self {
        let headers = response.headers();
        let mut request_id = request_id(headers);
        secrets.mask(&mut request_id);
        let origin = Origin { vendor, secrets, request_id, quota_left: codec.quota_left(headers) };
        if response.status().is_success() {
            place.answered();
        }
        Self { origin, response, limits, place: Some(place) }
    }

    /// Makes room for another call while the body is still to be read.
    pub(super) fn leave_place(&mut self) {
        self.place = None;
    }

    /// The whole body of a good answer, and whose it is.
    pub(super) async fn into_answer(mut self) -> Result<(Whole, Origin), Failure> {
        let mut body = Whole::default();
        self.read(&mut body, ANSWER_LIMIT).await?;
        Ok((body, self.origin))
    }

    /// The answer of a call to a model, and whose it is. A failure says what had come of an answer by then.
    pub(super) async fn into_model_answer(
        mut self,
        codec: &dyn Codec,
        json_tool: Option<&str>,
    ) -> Result<(ModelAnswer, Origin), Failure> {
        let mut body = Whole::default();
        let answer = match self.read(&mut body, ANSWER_LIMIT).await {
            Ok(()) => codec.decode(body.as_slice(), json_tool),
            Err(failure) => Err(failure.after(codec.arrived(body.as_slice(), json_tool))),
        };
        match answer {
            Ok(answer) => Ok((answer, self.origin)),
            Err(failure) => Err(self.origin.sign(failure)),
        }
    }

    /// The events of a good answer.
    pub(super) fn into_stream(self, decoder: Box<dyn StreamDecoder>) -> (BoxAnswerStream, Origin) {
        let origin = self.origin.clone();
        let body = self.response.bytes_stream();
        (Box::pin(HttpAnswerStream::new(body, decoder, self.origin, self.limits, self.place)), origin)
    }

    /// What a status that is no success means. As much of the body as came will do: the status says the most.
    pub(super) async fn into_failure(mut self, codec: &dyn Codec, now: SystemTime) -> Failure {
        let mut body = Whole::default();
        let _ = timeout(FAILURE_TIME, self.read(&mut body, FAILURE_LIMIT)).await;
        let status = self.response.status().as_u16();
        let head = ResponseHead { status, headers: self.response.headers(), now };
        let mut failure = self.origin.sign(codec.decode_failure(head, body.as_slice()));
        failure.vendor_status.get_or_insert(status);
        self.place.iter().for_each(|place| place.failed(failure.reason));
        failure
    }

    async fn read(&mut self, body: &mut Whole, limit: usize) -> Result<(), Failure> {
        let announced = self.response.content_length().unwrap_or(0);
        let mut size = 0;
        if announced > limit as u64 {
            return Err(self.too_large(limit));
        }
        while let Some(piece) = self.next_piece(size).await? {
            size += piece.len();
            if size > limit {
                return Err(self.too_large(limit));
            }
            body.push(piece, announced as usize);
        }
        Ok(())
    }

    /// The next piece of the body, after so many bytes of it.
    pub(super) async fn next_piece(&mut self, size: usize) -> Result<Option<Bytes>, Failure> {
        let (due, stage) = self.limits.next_piece_due(Instant::now());
        match timeout_at(due, self.response.chunk()).await {
            Ok(Ok(piece)) => Ok(piece),
            Ok(Err(error)) => {
                let what = format!("the answer broke off after {size} bytes: {}", Cause::of(&error));
                Err(self.origin.failure(ErrorReason::VendorBadResponse, what))
            }
            Err(_) => Err(self.timeout(stage)),
        }
    }

    fn timeout(&self, stage: Stage) -> Failure {
        self.origin.sign(self.limits.timeout(&self.origin.vendor, stage))
    }

    fn too_large(&self, limit: usize) -> Failure {
        let what = format!("the answer is larger than the limit of {limit} bytes");
        self.origin.failure(ErrorReason::VendorBadResponse, what)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100 by then")]
fn percent(share: f64) -> u8 {
    (share.clamp(0.0, 1.0) * 100.0) as u8
}

fn request_id(headers: &HeaderMap) -> String {
    let found = REQUEST_ID_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
    found.unwrap_or_default().to_owned()
}

/// A body, copied only where it came in more than one piece.
#[derive(Debug, Default)]
pub(super) struct Whole {
    first: Bytes,
    joined: Vec<u8>,
}

impl Whole {
    fn push(&mut self, piece: Bytes, expected: usize) {
        if self.first.is_empty() {
            self.first = piece;
            return;
        }
        if self.joined.is_empty() {
            self.joined.reserve(expected.max(self.first.len() + piece.len()));
            self.joined.extend_from_slice(&self.first);
        }
        self.joined.extend_from_slice(&piece);
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        if self.joined.is_empty() { &self.first } else { &self.joined }
    }
}
