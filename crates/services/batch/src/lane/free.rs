//! Money is set free that was pledged to jobs that nobody kept: their process died, or could not keep them.

use super::Workplace;
use crate::{
    Dependencies,
    failure::of_store,
    stored::{Pledged, read},
    submit::{closing, held},
};
use signalbox_api::v1::Settlement;
use signalbox_ports::batches::Pledge;
use signalbox_types::Failure;
use std::time::Duration;

/// Pledges that are dealt with at once.
const AT_ONCE: usize = 20;
/// When another process takes one over whose money is not free yet.
const AGAIN: Duration = Duration::from_secs(30);

impl Workplace {
    /// Sets free what is pledged to no job.
    pub(super) async fn free_pledges(&self) -> Result<(), Failure> {
        let Dependencies { store, clock, .. } = &self.dependencies;
        loop {
            let now = clock.now();
            let left = store.given_up(now, now + AGAIN, AT_ONCE).await.map_err(|error| of_store(&error))?;
            for pledge in &left {
                self.settle(self.closings_of(pledge).await?).await?;
                store.forget(&pledge.pledge_id).await.map_err(|error| of_store(&error))?;
            }
            if left.len() < AT_ONCE {
                return Ok(());
            }
        }
    }

    /// What closes the reservations of a pledge, made or not: the ledger makes none anew that was closed before.
    async fn closings_of(&self, pledge: &Pledge) -> Result<Vec<Settlement>, Failure> {
        let Some(mut budget) = self.budget.clone() else { return Ok(Vec::new()) };
        let Pledged { asked } = read(&pledge.details).unwrap_or_else(|failure| {
            tracing::error!("what was set aside for a job stays reserved: {}", failure.message);
            Pledged::default()
        });
        let mut closings = Vec::with_capacity(asked.len());
        for asked in &asked {
            if let Some(hold) = held(&mut budget, asked).await? {
                closings.extend(closing(&hold, &asked.tenant_id, ""));
            }
        }
        Ok(closings)
    }
}
