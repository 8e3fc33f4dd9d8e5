//! Pages of jobs, and the tokens of pages and results. A token belongs to one question: given with another it is
//! refused, not misread.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use prost::Message;
use sha2::{Digest, Sha256};
use signalbox_api::{convert::Violations, v1};

/// Jobs on a page when the caller does not say.
const PAGE: usize = 100;
/// Most jobs on a page.
const LARGEST: usize = 1_000;

#[derive(Clone, Copy, PartialEq, Message)]
struct Token {
    /// Of the question it belongs to.
    #[prost(fixed64, tag = "1")]
    question: u64,
    /// After what it goes on.
    #[prost(uint64, tag = "2")]
    after: u64,
}

/// What a token belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question(u64);

impl Question {
    /// Jobs, as they are asked for but for the page.
    pub(crate) fn jobs(asked: &v1::ListBatchJobsRequest) -> Self {
        let question = v1::ListBatchJobsRequest { page_size: 0, page_token: String::new(), ..asked.clone() };
        Self::of(&["jobs".as_bytes(), &question.encode_to_vec()])
    }

    /// Results of a job. One that takes the name of a job that was removed is another.
    pub(crate) fn results(job: i64) -> Self {
        Self::of(&[b"results", &job.to_be_bytes()])
    }

    fn of(parts: &[&[u8]]) -> Self {
        let hash = parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize();
        Self(hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// A token that goes on after something.
    pub(crate) fn token(self, after: u64) -> String {
        URL_SAFE_NO_PAD.encode(Token { question: self.0, after }.encode_to_vec())
    }

    /// After what a token goes on; `None` where it is of another question, or no token.
    pub(crate) fn read(self, token: &str) -> Option<u64> {
        let token = Token::decode(URL_SAFE_NO_PAD.decode(token).ok()?.as_slice()).ok()?;
        (token.question == self.0).then_some(token.after)
    }
}

/// How many jobs are asked for.
pub(crate) fn size(asked: i32, violations: &mut Violations) -> usize {
    match usize::try_from(asked) {
        Ok(0) => PAGE,
        Ok(size) => size.min(LARGEST),
        Err(_) => {
            violations.add("page_size", "must not be negative");
            PAGE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_on_with_its_own_question_only() {
        let asked = v1::ListBatchJobsRequest { tenant_id: "acme".into(), ..Default::default() };
        let jobs = Question::jobs(&asked);
        let token = jobs.token(7);
        assert_eq!(jobs.read(&token), Some(7));
        let larger = v1::ListBatchJobsRequest { page_size: 5, page_token: token.clone(), ..asked };
        assert_eq!(Question::jobs(&larger).read(&token), Some(7));
        assert_eq!(Question::jobs(&Default::default()).read(&token), None);
        assert_eq!(Question::results(7).read(&token), None);
        assert_eq!(jobs.read("nonsense"), None);
    }
}
