//! The alerts of this process, as they are listed.

use crate::read::Pages;
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{Alert, ListAlertsRequest, ListAlertsResponse, alert::State},
};
use signalbox_types::Failure;
use std::sync::{Arc, PoisonError, RwLock};

/// The alerts of this process, last opened first. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct SharedAlerts(Arc<RwLock<Vec<Alert>>>);

impl SharedAlerts {
    /// What stands from now on.
    pub fn replace(&self, alerts: Vec<Alert>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = alerts;
    }

    pub(crate) fn page(&self, request: &ListAlertsRequest) -> Result<ListAlertsResponse, Failure> {
        let mut violations = Violations::default();
        for (index, state) in request.states.iter().enumerate() {
            let field = format!("states[{index}]");
            known_enum::<State>(*state, &field, &mut violations);
            violations.check(*state != State::Unspecified as i32, || field, || "must say a state");
        }
        let pages = Pages::alerts(request, &mut violations);
        violations.into_result()?;
        let alerts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |alert: &&Alert| {
            let state = match request.states.as_slice() {
                [] => alert.state() != State::Closed,
                states => states.contains(&alert.state),
            };
            state
                && (request.vendor.is_empty() || request.vendor == alert.vendor)
                && (request.model.is_empty() || request.model == alert.model)
        };
        let mut rest = alerts.iter().filter(wanted).skip(pages.offset());
        let page: Vec<Alert> = rest.by_ref().take(pages.size).cloned().collect();
        let next_page_token = pages.next_offset(page.len(), rest.next().is_some());
        Ok(ListAlertsResponse { alerts: page, next_page_token })
    }
}
