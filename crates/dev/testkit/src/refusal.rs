//! What a failed call tells its caller.

use crate::ask;
use signalbox_api::{status, v1};
use tonic::{Code, Status};

/// A status and its details, read.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The gRPC code.
    pub code: Code,
    /// `ErrorInfo.reason`.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// Fields named by `BadRequest`.
    pub fields: Vec<String>,
    /// The attempts, as [`ask::attempts`] tells them.
    pub attempts: Vec<String>,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let failure = status::from_status(&status);
        let route = status::detail::<v1::RouteFailure>(&status).unwrap_or_default();
        Self {
            code: status.code(),
            reason: failure.reason.name(),
            message: failure.message,
            fields: failure.violations.into_iter().map(|violation| violation.field).collect(),
            attempts: ask::attempts(&route.attempts),
        }
    }
}
