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
use tokio::time::sleep;
use tonic::Request;

/// How long the budget service may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first pause before it is asked again; each next one is twice as long, up to the longest.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What was reserved for a job.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    pub(super) nano_eur: i64,
    pub(super) holds: Vec<Hold>,
}

/// Reserves the worst case of all items: in the budgets of each scene, or not at all.
pub(super) async fn reserve(
    dependencies: &Dependencies,
    head: &Head,
    items: &[Prepared],
) -> Result<Reserved, Failure> {
    let mut amounts: BTreeMap<&str, i64> = BTreeMap::new();
    for item in items {
        let amount = amounts.entry(item.scene()).or_default();
        *amount = amount.saturating_add(item.worst_case());
    }
    let nano_eur = amounts.values().fold(0_i64, |sum, amount| sum.saturating_add(*amount));
    let Some(budget) = dependencies.budget.clone().filter(|_| !head.tenant_id.is_empty()) else {
        return Ok(Reserved { nano_eur, holds: Vec::new() });
    };
    let mut budget = BudgetServiceClient::new(budget);
    let ttl = head.completion_window + dependencies.options.reservation_margin;
    let mut holds = Vec::with_capacity(amounts.len());
    for (scene, amount) in amounts {
        let asked = ask(head, scene, amount, ttl);
        match budget.reserve(timed(asked.clone())).await {
            Ok(answer) => holds.push(hold(&asked, answer.into_inner())),
            Err(status) => {
                let failure = from_status(&status);
                release(&budget, &head.tenant_id, holds);
                if may_be_made(failure.reason) {
                    undo(budget, asked);
                }
                return Err(told(failure, nano_eur));
            }
        }
    }
    Ok(Reserved { nano_eur, holds })
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

/// Sets free what was reserved for a job that there is not.
pub(super) fn release(budget: &BudgetServiceClient<Hop>, tenant_id: &str, holds: Vec<Hold>) {
    for hold in holds.into_iter().filter(|hold| !hold.charges.is_empty()) {
        let settlement = closing(&hold, tenant_id, "");
        tokio::spawn(settle(budget.clone(), settlement));
    }
}

/// Finds out whether it was reserved, by reserving again, and sets it free.
fn undo(mut budget: BudgetServiceClient<Hop>, asked: v1::ReserveRequest) {
    tokio::spawn(async move {
        let mut pause = PAUSE;
        loop {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            match budget.reserve(timed(asked.clone())).await {
                Ok(answer) => {
                    let hold = hold(&asked, answer.into_inner());
                    return release(&budget, &asked.tenant_id, vec![hold]);
                }
                Err(status) if !may_be_made(from_status(&status).reason) => return,
                Err(_) => {}
            }
        }
    });
}

async fn settle(mut budget: BudgetServiceClient<Hop>, settlement: v1::Settlement) {
    let mut pause = PAUSE;
    let request = v1::SettleRequest { settlements: vec![settlement] };
    while let Err(status) = budget.settle(timed(request.clone())).await {
        tracing::debug!(%status, "what was reserved for a job that there is not is not free yet");
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The settlement that sets free what nobody used of a reservation: it costs nothing, and nothing follows.
pub(crate) fn closing(hold: &Hold, tenant_id: &str, request_id: &str) -> v1::Settlement {
    v1::Settlement {
        settlement_id: derived_id(&["close", &hold.reservation_id]),
        charges: hold.charges.clone(),
        request_id: request_id.to_owned(),
        tenant_id: tenant_id.to_owned(),
        ..Default::default()
    }
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}
