//! How the loss of a peer is told: as `UNAVAILABLE`, which no vendor's failure is.

use signalbox_api::status::to_status;
use signalbox_types::{ErrorReason, Failure};
use std::{error::Error, sync::Arc};
use tonic::Status;

/// Source of the status of a call that was under way.
#[derive(Debug, thiserror::Error)]
#[error("the call was under way")]
struct UnderWay;

/// Source of the status of a call that no peer has got.
#[derive(Debug, thiserror::Error)]
#[error("the call was never sent")]
struct NeverSent;

/// The peer has not got the call.
pub(super) fn unreachable(problem: &str) -> Status {
    let mut status = away(format!("a peer of this process cannot be reached: {problem}"));
    status.set_source(Arc::new(NeverSent));
    status
}

/// The connection broke, and the peer may have been at work on the call.
pub(super) fn cut(problem: &str) -> Status {
    let mut status = away(format!("the connection to a peer of this process broke: {problem}"));
    status.set_source(Arc::new(UnderWay));
    status
}

/// Whether a call was lost together with a peer that may have been at work on it.
pub fn was_under_way(status: &Status) -> bool {
    status.source().is_some_and(<dyn Error>::is::<UnderWay>)
}

/// Whether no peer has got a call, so that it may be made again, whatever it does. What a peer itself says is never that.
pub fn was_never_sent(status: &Status) -> bool {
    status.source().is_some_and(<dyn Error>::is::<NeverSent>)
}

/// Whether a call was still waiting to be sent when its connection ended, as all do that meet a peer's drain.
pub(super) fn is_unsent(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled)
}

fn away(message: String) -> Status {
    to_status(&Failure::new(ErrorReason::Unavailable, message))
}
