//! What drills do to one request.

use super::{
    SharedDrills,
    drill::{Drill, Ending},
};
use signalbox_api::{convert, v1};
use signalbox_types::{DrillFault, ErrorReason, Failure, ModelRef};
use std::sync::Arc;

/// Follows one request through its attempts and tells the drills what became of it. Dropped before it was told the
/// end, it tells that the client went away.
#[derive(Debug)]
pub(crate) struct Exposure {
    drills: SharedDrills,
    attempts: u32,
    /// The models called while a drill ran, and what hit the last call of each.
    calls: Vec<(ModelRef, Option<Arc<Drill>>)>,
    /// The drills that hit the request.
    hit_by: Vec<Arc<Drill>>,
}

impl Exposure {
    pub(crate) fn new(drills: &SharedDrills) -> Self {
        Self { drills: drills.clone(), attempts: 0, calls: Vec::new(), hit_by: Vec::new() }
    }

    /// What is to be done to the next call on purpose.
    pub(crate) fn fault(&mut self, request: &v1::GenerateRequest, model: &ModelRef) -> Option<DrillFault> {
        self.attempts += 1;
        let drill = self.drills.hit(&request.tenant_id, model, &request.request_id, self.attempts);
        if drill.is_none() && self.hit_by.is_empty() {
            return None;
        }
        let fault = drill.as_ref().map(|drill| drill.fault());
        self.note(model, drill);
        fault
    }

    fn note(&mut self, model: &ModelRef, drill: Option<Arc<Drill>>) {
        if let Some(drill) = &drill
            && !self.hit_by.iter().any(|known| Arc::ptr_eq(known, drill))
        {
            drill.count(|tally| tally.requests_hit += 1);
            self.hit_by.push(drill.clone());
        }
        match self.calls.iter_mut().find(|(called, _)| called == model) {
            Some((_, last)) => *last = drill,
            None => self.calls.push((model.clone(), drill)),
        }
    }

    /// Whether a call failed only because its adapter takes no faults. The drills are over then, and the call is to be
    /// made again: what an operator left out of a configuration is no client's loss.
    pub(crate) fn refused(&mut self, failure: &Failure) -> bool {
        let about_fault = failure.violations.iter().any(|violation| violation.field == "fault");
        if self.hit_by.is_empty() || failure.reason != ErrorReason::InvalidRequest || !about_fault {
            return false;
        }
        self.hit_by.iter().for_each(|drill| drill.end(Ending::Refused));
        self.drills.recount();
        true
    }

    /// The request was answered.
    pub(crate) fn answered(mut self, tenant: &str, by: &ModelRef, route: &v1::Route) {
        if self.hit_by.is_empty() && !self.drills.any() {
            return;
        }
        let whole = route.latency.and_then(convert::duration_from_proto).unwrap_or_default();
        let served = route.attempts.last().and_then(|attempt| attempt.latency);
        let own = served.and_then(convert::duration_from_proto).unwrap_or(whole);
        let hit = self.calls.iter().any(|(model, drill)| model == by && drill.is_some());
        let hit_by = std::mem::take(&mut self.hit_by);
        if !hit {
            let mut compare = self.drills.comparing(tenant);
            compare.extend(hit_by.iter().cloned());
            compare.sort_unstable_by_key(Arc::as_ptr);
            compare.dedup_by(|one, other| Arc::ptr_eq(one, other));
            compare.iter().for_each(|drill| drill.count(|tally| tally.unhurt.record(own)));
        }
        hit_by.iter().for_each(|drill| drill.count(|tally| tally.answered(by, whole)));
    }

    /// The client was told of a failure. What is said of a prompt or an answer has nothing to do with the vendor's fault,
    /// so that request does not count.
    pub(crate) fn failed(mut self, reason: ErrorReason) {
        let judged = matches!(reason, ErrorReason::ContentPolicy | ErrorReason::OutputInvalid);
        for drill in std::mem::take(&mut self.hit_by) {
            drill.count(|tally| if judged { tally.requests_hit -= 1 } else { tally.client_errors += 1 });
        }
    }
}

impl Drop for Exposure {
    fn drop(&mut self) {
        for drill in &self.hit_by {
            drill.count(|tally| tally.clients_gone += 1);
        }
    }
}
