//! Pages and their tokens. A token says where the next page begins and belongs to one question: given with another it is
//! refused, not misread.

use super::window::TELLABLE;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use prost::Message;
use prost_types::Timestamp;
use sha2::{Digest, Sha256};
use signalbox_api::{convert::Violations, v1};
use std::time::SystemTime;

/// Rows on a page when the caller does not say.
const PAGE: usize = 100;

/// What a token holds.
#[derive(Clone, PartialEq, Message)]
struct Token {
    /// Of the question it belongs to.
    #[prost(fixed64, tag = "1")]
    question: u64,
    /// The window of its first page, so that `now` stands still while pages are turned.
    #[prost(message, optional, tag = "2")]
    start: Option<Timestamp>,
    #[prost(message, optional, tag = "3")]
    end: Option<Timestamp>,
    /// Rows to pass over, or the last number seen.
    #[prost(uint64, tag = "4")]
    offset: u64,
    /// The last row seen.
    #[prost(message, optional, tag = "5")]
    after: Option<Timestamp>,
    #[prost(string, tag = "6")]
    after_id: String,
}

/// A page that is asked for.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Most rows.
    pub(crate) size: usize,
    question: u64,
    token: Token,
}

impl Pages {
    pub(crate) fn usage(request: &v1::QueryUsageRequest, violations: &mut Violations) -> Self {
        let question = v1::QueryUsageRequest { page_size: 0, page_token: String::new(), ..request.clone() };
        Self::new("usage", &question, (request.page_size, 10_000), &request.page_token, violations)
    }

    pub(crate) fn requests(request: &v1::ListRequestsRequest, violations: &mut Violations) -> Self {
        let question = v1::ListRequestsRequest { page_size: 0, page_token: String::new(), ..request.clone() };
        Self::new("requests", &question, (request.page_size, 1_000), &request.page_token, violations)
    }

    pub(crate) fn alerts(request: &v1::ListAlertsRequest, violations: &mut Violations) -> Self {
        let question = v1::ListAlertsRequest { page_size: 0, page_token: String::new(), ..request.clone() };
        Self::new("alerts", &question, (request.page_size, 1_000), &request.page_token, violations)
    }

    pub(crate) fn letters(request: &v1::ListDeadLettersRequest, violations: &mut Violations) -> Self {
        let question =
            v1::ListDeadLettersRequest { page_size: 0, page_token: String::new(), ..request.clone() };
        Self::new("letters", &question, (request.page_size, 1_000), &request.page_token, violations)
    }

    fn new(
        method: &str,
        question: &impl Message,
        (size, largest): (i32, usize),
        token: &str,
        violations: &mut Violations,
    ) -> Self {
        let size = match usize::try_from(size) {
            Ok(0) => PAGE,
            Ok(size) => size.min(largest),
            Err(_) => {
                violations.add("page_size", "must not be negative");
                PAGE
            }
        };
        let question = fingerprint(method, question);
        let read = (!token.is_empty()).then(|| read(token, question));
        let known = read.as_ref().is_none_or(Option::is_some);
        violations.check(known, || "page_token", || "is not one that this question was answered with");
        Self { size, question, token: read.flatten().unwrap_or_default() }
    }

    /// The window of the first page, where this is a later one.
    pub(crate) fn window(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.token.start, self.token.end)
    }

    /// Rows to pass over.
    pub(crate) fn offset(&self) -> usize {
        usize::try_from(self.token.offset).unwrap_or(usize::MAX)
    }

    /// The last number seen.
    pub(crate) fn last(&self) -> u64 {
        self.token.offset
    }

    /// The last row seen.
    pub(crate) fn after(&self) -> Option<(SystemTime, String)> {
        let when = self.token.after.filter(|when| TELLABLE.contains(&when.seconds))?;
        let when = SystemTime::try_from(when).ok()?;
        Some((when, self.token.after_id.clone()))
    }

    /// The token of the page after `rows` more; empty at the end.
    pub(crate) fn next_offset(&self, rows: usize, more: bool) -> String {
        let offset = self.token.offset.saturating_add(rows as u64);
        if more { Token { offset, ..self.token.clone() }.write(self.question) } else { String::new() }
    }

    /// The token of the page after a number.
    pub(crate) fn after_number(&self, last: u64) -> String {
        Token { offset: last, ..Token::default() }.write(self.question)
    }

    /// The token of the page after a row, within a window.
    pub(crate) fn after_row(&self, window: (SystemTime, SystemTime), when: SystemTime, id: &str) -> String {
        let token = Token {
            start: Some(window.0.into()),
            end: Some(window.1.into()),
            after: Some(when.into()),
            after_id: id.to_owned(),
            ..Token::default()
        };
        token.write(self.question)
    }

    /// The same page within a window that later ones keep.
    pub(crate) fn within(mut self, window: (SystemTime, SystemTime)) -> Self {
        self.token.start = Some(window.0.into());
        self.token.end = Some(window.1.into());
        self
    }
}

impl Token {
    fn write(mut self, question: u64) -> String {
        self.question = question;
        URL_SAFE_NO_PAD.encode(self.encode_to_vec())
    }
}

fn read(token: &str, question: u64) -> Option<Token> {
    let token = Token::decode(URL_SAFE_NO_PAD.decode(token).ok()?.as_slice()).ok()?;
    (token.question == question).then_some(token)
}

fn fingerprint(method: &str, question: &impl Message) -> u64 {
    let hash = Sha256::new().chain_update(method).chain_update(question.encode_to_vec()).finalize();
    hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
