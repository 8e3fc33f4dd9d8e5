//! Pages and their tokens. A token says after what the next page begins and belongs to one question: given with
//! another it is refused, not misread.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use prost::Message;
use sha2::{Digest, Sha256};
use signalbox_api::convert::Violations;

/// Rows on a page when the caller does not say.
const PAGE: usize = 100;
/// Most rows on a page.
const LARGEST: usize = 1_000;

/// What a token holds.
#[derive(Clone, PartialEq, Message)]
struct Token {
    /// Of the question it belongs to.
    #[prost(fixed64, tag = "1")]
    question: u64,
    /// The last row of the page before, as far as it says where the next begins.
    #[prost(string, repeated, tag = "2")]
    after: Vec<String>,
}

/// A page that is asked for.
#[derive(Debug)]
pub(crate) struct Page {
    /// Most rows.
    pub(crate) size: usize,
    question: u64,
    after: Option<Vec<String>>,
}

/// A request for a page.
pub(crate) trait Paged: Message + Clone + prost::Name {
    /// Size and token that it asks for; takes them out of it.
    fn take(&mut self) -> (i32, String);
}

macro_rules! paged {
    ($($request:ident),+) => {$(
        impl Paged for signalbox_api::v1::$request {
            fn take(&mut self) -> (i32, String) {
                (std::mem::take(&mut self.page_size), std::mem::take(&mut self.page_token))
            }
        }
    )+};
}

paged!(
    ListTenantsRequest,
    ListApiKeysRequest,
    ListBudgetsRequest,
    ListLedgerEntriesRequest,
    ReconcileLedgerRequest,
    ListAuditEntriesRequest
);

impl Page {
    /// The page that a request asks for.
    pub(crate) fn of<R: Paged>(request: &R, violations: &mut Violations) -> Self {
        let mut question = request.clone();
        let (size, token) = question.take();
        let size = match usize::try_from(size) {
            Ok(0) => PAGE,
            Ok(size) => size.min(LARGEST),
            Err(_) => {
                violations.add("page_size", "must not be negative");
                PAGE
            }
        };
        let question = fingerprint(&question);
        let read = (!token.is_empty()).then(|| read(&token, question));
        let known = read.as_ref().is_none_or(Option::is_some);
        violations.check(known, || "page_token", || "is not one that this question was answered with");
        Self { size, question, after: read.flatten().map(|token| token.after) }
    }

    /// The last row of the page before, where there is one.
    pub(crate) fn after(&self) -> Option<&[String]> {
        self.after.as_deref()
    }

    /// As [`Page::after`], for rows that one text names.
    pub(crate) fn after_id(&self) -> Option<&str> {
        self.after()?.first().map(String::as_str)
    }

    /// Cuts the rows to the page. They were asked for one more than fit on it: that one shows whether there are more.
    /// The token of the next page; empty at the end.
    pub(crate) fn cut<T>(&self, rows: &mut Vec<T>, name: impl FnOnce(&T) -> Vec<String>) -> String {
        let more = rows.len() > self.size;
        rows.truncate(self.size);
        match rows.last() {
            Some(last) if more => {
                let token = Token { question: self.question, after: name(last) };
                URL_SAFE_NO_PAD.encode(token.encode_to_vec())
            }
            _ => String::new(),
        }
    }

    /// Rows to ask for.
    pub(crate) fn ask(&self) -> usize {
        self.size + 1
    }
}

fn read(token: &str, question: u64) -> Option<Token> {
    let token = Token::decode(URL_SAFE_NO_PAD.decode(token).ok()?.as_slice()).ok()?;
    (token.question == question && !token.after.is_empty()).then_some(token)
}

fn fingerprint<R: Message + prost::Name>(question: &R) -> u64 {
    let hash = Sha256::new().chain_update(R::NAME).chain_update(question.encode_to_vec()).finalize();
    hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
