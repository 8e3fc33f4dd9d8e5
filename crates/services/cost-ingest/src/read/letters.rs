//! Events that could not be stored.

use super::Pages;
use crate::{failure, service::Dependencies};
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{
        DeadLetter, DiscardDeadLettersRequest, DiscardDeadLettersResponse, ListDeadLettersRequest,
        ListDeadLettersResponse, ReplayDeadLettersRequest, ReplayDeadLettersResponse, dead_letter::Reason,
    },
};
use signalbox_ports::{Chosen, Letter};
use signalbox_types::Failure;

/// Letters replayed or discarded by one call when they are named one by one.
const MOST_NAMED: usize = 10_000;

/// Answers `ListDeadLetters`.
pub(crate) async fn list(
    dependencies: &Dependencies,
    request: ListDeadLettersRequest,
) -> Result<ListDeadLettersResponse, Failure> {
    let mut violations = Violations::default();
    let pages = Pages::letters(&request, &mut violations);
    let reason = known_enum::<Reason>(request.reason, "reason", &mut violations);
    violations.into_result()?;
    let reason = (reason != Reason::Unspecified).then_some(reason);
    let listed = dependencies.letters.list(reason, pages.last(), pages.size + 1).await;
    let mut letters = listed.map_err(failure::of_bus)?;
    let more = letters.len() > pages.size;
    letters.truncate(pages.size);
    let next_page_token = match letters.last() {
        Some((last, _)) if more => pages.after_number(*last),
        _ => String::new(),
    };
    let dead_letters = letters.into_iter().map(tell).collect();
    Ok(ListDeadLettersResponse { dead_letters, next_page_token })
}

fn tell((sequence, letter): (u64, Letter)) -> DeadLetter {
    DeadLetter {
        sequence,
        reason: letter.reason as i32,
        detail: letter.detail,
        event_id: letter.event_id,
        tenant_id: letter.tenant_id,
        create_time: Some(letter.set_aside_at.into()),
        payload: letter.payload.into(),
    }
}

/// Answers `ReplayDeadLetters`.
pub(crate) async fn replay(
    dependencies: &Dependencies,
    request: ReplayDeadLettersRequest,
) -> Result<ReplayDeadLettersResponse, Failure> {
    let which = chosen(request.sequences, request.reason)?;
    let replayed = dependencies.letters.replay(&which).await.map_err(failure::of_bus)?;
    tracing::info!(replayed, "dead letters were put on the bus again");
    Ok(ReplayDeadLettersResponse { replayed })
}

/// Answers `DiscardDeadLetters`.
pub(crate) async fn discard(
    dependencies: &Dependencies,
    request: DiscardDeadLettersRequest,
) -> Result<DiscardDeadLettersResponse, Failure> {
    let which = chosen(request.sequences, request.reason)?;
    let discarded = dependencies.letters.discard(&which).await.map_err(failure::of_bus)?;
    tracing::warn!(discarded, ?which, "dead letters were discarded by hand: what they tell is never counted");
    Ok(DiscardDeadLettersResponse { discarded })
}

fn chosen(sequences: Vec<u64>, reason: i32) -> Result<Chosen, Failure> {
    let mut violations = Violations::default();
    let reason = known_enum::<Reason>(reason, "reason", &mut violations);
    let (by_number, by_reason) = (!sequences.is_empty(), reason != Reason::Unspecified);
    violations.check(
        by_number != by_reason,
        || "sequences",
        || "give exactly one of `sequences` and `reason`",
    );
    violations.at_most(sequences.len(), MOST_NAMED, "numbers", || "sequences");
    violations.into_result()?;
    Ok(if by_number { Chosen::Sequences(sequences) } else { Chosen::Reason(reason) })
}
