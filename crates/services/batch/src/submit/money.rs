//! Money is set aside for a whole job, and set free again where there is no job.

use super::{check::Head, prepare::Prepared};
use crate::{
    Dependencies,
    stored::{Hold, derived_id, new_id},
};
use signalbox_api::{
    convert::duration_to_proto,
    status::from_status,
    v1::{self, budget_service_client::BudgetServiceClient},
};
use signalbox_kit::Hop;
use signalbox_types::{ErrorReason, Failure, Money};
use std::{collections::BTreeMap, time::Duration};
use tonic::Request;

/// How long the budget service may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a job can cost at most.
#[derive(Debug)]
pub(super) struct Bill {
    pub(super) nano_eur: i64,
    /// What is to be set aside: in the budgets of each scene. Nothing where no budgets are kept.
    pub(super) asked: Vec<v1::ReserveRequest>,
}

/// Nothing pays for a job.
#[derive(Debug)]
pub(super) struct Unpaid {
    pub(super) failure: Failure,
    /// Money may be set aside all the same.
    pub(super) perhaps_held: bool,
}

/// The worst case of all items.
pub(super) fn bill(dependencies: &Dependencies, head: &Head, items: &[Prepared]) -> Bill {
    let mut amounts: BTreeMap<&str, i64> = BTreeMap::new();
    for item in items {
        let amount = amounts.entry(item.scene()).or_default();
        *amount = amount.saturating_add(item.worst_case());
    }
    let nano_eur = amounts.values().fold(0_i64, |sum, amount| sum.saturating_add(*amount));
    let ttl = head.completion_window + dependencies.options.reservation_margin;
    let is_counted = dependencies.budget.is_some() && !head.tenant_id.is_empty();
    let amounts = amounts.into_iter().filter(|_| is_counted);
    Bill { nano_eur, asked: amounts.map(|(scene, amount)| ask(head, scene, amount, ttl)).collect() }
}

fn ask(head: &Head, scene: &str, amount: i64, ttl: Duration) -> v1::ReserveRequest {
    v1::ReserveRequest {
        reservation_id: format!("batch-{}", new_id()),
        tenant_id: head.tenant_id.clone(),
        key_id: head.key_id.clone(),
        scene: scene.to_owned(),
        request_id: head.job_id.clone(),
        amount_nano_eur: amount,
        ttl: Some(duration_to_proto(ttl)),
    }
}

/// Sets a bill's money aside: all of it, or the job is not paid.
pub(super) async fn reserve(dependencies: &Dependencies, bill: &Bill) -> Result<Vec<Hold>, Unpaid> {
    let Some(budget) = dependencies.budget.clone() else { return Ok(Vec::new()) };
    let mut budget = BudgetServiceClient::new(budget);
    let mut holds = Vec::with_capacity(bill.asked.len());
    for asked in &bill.asked {
        match budget.reserve(timed(asked.clone())).await {
            Ok(answer) => holds.push(hold(asked, answer.into_inner())),
            Err(status) => {
                let failure = from_status(&status);
                let perhaps_held = !holds.is_empty() || may_be_made(failure.reason);
                return Err(Unpaid { failure: told(failure, bill.nano_eur), perhaps_held });
            }
        }
    }
    Ok(holds)
}

/// What a reservation holds that may have been made, found out by making it again; `None` where it was refused.
pub(crate) async fn held(
    budget: &mut BudgetServiceClient<Hop>,
    asked: &v1::ReserveRequest,
) -> Result<Option<Hold>, Failure> {
    match budget.reserve(timed(asked.clone())).await.map_err(|status| from_status(&status)) {
        Ok(answer) => Ok(Some(hold(asked, answer.into_inner()))),
        Err(failure) if may_be_made(failure.reason) => Err(failure),
        Err(_) => Ok(None),
    }
}

fn hold(asked: &v1::ReserveRequest, answer: v1::ReserveResponse) -> Hold {
    Hold {
        scene: asked.scene.clone(),
        reservation_id: asked.reservation_id.clone(),
        charges: answer.charges,
        effect: answer.effect,
    }
}

/// Whether money may be set aside although the answer was a failure.
fn may_be_made(reason: ErrorReason) -> bool {
    !matches!(
        reason,
        ErrorReason::BudgetExhausted
            | ErrorReason::InvalidRequest
            | ErrorReason::NotFound
            | ErrorReason::PermissionDenied
    )
}

fn told(mut failure: Failure, nano_eur: i64) -> Failure {
    if failure.reason == ErrorReason::BudgetExhausted {
        failure.message.push_str(&format!(
            "; the job could cost {} at most, which is less where its items set a lower max_output_tokens",
            Money::from_nano_eur(nano_eur)
        ));
    }
    failure
}

/// The settlement that sets free what nobody used of a reservation: it costs nothing, and nothing follows. `None` where it
/// holds nothing.
pub(crate) fn closing(hold: &Hold, tenant_id: &str, request_id: &str) -> Option<v1::Settlement> {
    (!hold.charges.is_empty()).then(|| v1::Settlement {
        settlement_id: derived_id(&["close", &hold.reservation_id]),
        charges: hold.charges.clone(),
        request_id: request_id.to_owned(),
        tenant_id: tenant_id.to_owned(),
        ..Default::default()
    })
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}
