//! What replicas hear of as it changes.

use crate::{check::check_required, service::Dependencies};
use futures_util::{StreamExt, stream::BoxStream};
use signalbox_api::{
    convert::Violations,
    status::to_status,
    v1::{WatchAdmissionRequest, WatchAdmissionResponse},
};
use signalbox_types::Failure;
use tonic::Status;

/// Answers `WatchAdmission`.
pub(crate) fn watch(
    dependencies: &Dependencies,
    request: &WatchAdmissionRequest,
) -> Result<BoxStream<'static, Result<WatchAdmissionResponse, Status>>, Failure> {
    let mut violations = Violations::default();
    check_required(&request.replica_id, "replica_id", &mut violations);
    violations.into_result()?;
    let news = dependencies.feed.follow(&request.replica_id)?;
    Ok(news.map(|news| news.map_err(|failure| to_status(&failure))).boxed())
}
