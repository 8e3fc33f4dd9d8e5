//! How the loss of a peer is told: as `UNAVAILABLE`, which no vendor's failure is.
//!
//! The message may go to a client, whom the inside of a deployment does not concern. What happened is the status's
//! source: that stays in this process.

use signalbox_api::status::to_status;
use signalbox_types::{ErrorReason, Failure};
use std::{error::Error, sync::Arc};
use tonic::Status;

/// Source of the status of a call that was under way.
#[derive(Debug, thiserror::Error)]
#[error("the connection to a peer broke: {0}")]
struct UnderWay(String);

/// Source of the status of a call that no peer has got.
#[derive(Debug, thiserror::Error)]
#[error("a peer cannot be reached: {0}")]
struct NeverSent(String);

/// The peer has not got the call.
pub(super) fn unreachable(problem: &str) -> Status {
    let message = "a part of this service that the call needs cannot be reached now; try again soon";
    away(message, NeverSent(problem.to_owned()))
}

/// The connection broke, and the peer may have been at work on the call.
pub(super) fn cut(problem: &str) -> Status {
    away("a part of this service was lost while it was at work on the call", UnderWay(problem.to_owned()))
}

/// Whether a call was lost together with a peer that may have been at work on it.
pub fn was_under_way(status: &Status) -> bool {
    status.source().is_some_and(<dyn Error>::is::<UnderWay>)
}

/// Whether no peer has got a call, so that it may be made again, whatever it does. What a peer itself says is never that.
pub fn was_never_sent(status: &Status) -> bool {
    status.source().is_some_and(<dyn Error>::is::<NeverSent>)
}

/// What is wrong, for operators: of the loss of a peer what happened, else what the peer says.
pub fn cause(status: &Status) -> String {
    let lost = status.source().filter(|_| was_under_way(status) || was_never_sent(status));
    lost.map_or_else(|| status.message().to_owned(), ToString::to_string)
}

/// Whether a call was still waiting to be sent when its connection ended, as all do that meet a peer's drain.
pub(super) fn is_unsent(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled)
}

fn away(message: &str, what: impl Error + Send + Sync + 'static) -> Status {
    tracing::debug!("a call was lost: {what}");
    let mut status = to_status(&Failure::new(ErrorReason::Unavailable, message));
    status.set_source(Arc::new(what));
    status
}
