//! An answer as far as it is one. What cannot be used may have to be paid for.

use signalbox_pricing::{arrived_whole, estimate_tokens};
use signalbox_types::{Arrived, Failure, ModelAnswer};

/// A whole answer, whether or not it can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What it says, and what the vendor reports of it.
    pub answer: ModelAnswer,
    /// Why it cannot be used.
    pub problem: Option<Failure>,
}

impl From<ModelAnswer> for Draft {
    fn from(answer: ModelAnswer) -> Self {
        Self { answer, problem: None }
    }
}

impl Draft {
    /// An answer that cannot be used.
    pub(crate) fn unusable(answer: ModelAnswer, problem: Failure) -> Self {
        Self { answer, problem: Some(problem) }
    }

    /// The answer, if it can be used.
    pub(crate) fn into_answer(self) -> Result<ModelAnswer, Failure> {
        match self.problem {
            None => Ok(self.answer),
            Some(problem) => Err(problem.after(arrived_whole(&self.answer))),
        }
    }
}

/// What had come of an answer by bytes alone, where there is no telling which of them are the answer.
pub(crate) fn arrived_unread(body: &[u8]) -> Arrived {
    Arrived { usage: None, answer_tokens: estimate_tokens(&String::from_utf8_lossy(body)) }
}
