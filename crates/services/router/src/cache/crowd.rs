//! A request among those of this router that ask the same.

use super::{
    client::Cache,
    context::Asked,
    line::{Followed, Joined, Lead, Shared},
};
use crate::admission::Admitted;
use std::sync::Arc;
use tokio::time::Instant;

/// What it asks, how, and for how long.
pub(super) struct Crowd<'a> {
    pub(super) cache: &'a Cache,
    pub(super) admitted: &'a Admitted,
    exact_only: bool,
    /// How long it waits for others, in all.
    pub(super) until: Instant,
}

/// Its place.
pub(super) enum Place {
    /// It asks the cache for all.
    Leads(Lead),
    /// It has been asked.
    Shares(Arc<Shared>),
    Alone,
}

impl<'a> Crowd<'a> {
    pub(super) fn of(cache: &'a Cache, admitted: &'a Admitted, exact_only: bool) -> Self {
        let now = Instant::now();
        let left = admitted.deadline.map(|deadline| deadline.saturating_duration_since(now));
        Self { cache, admitted, exact_only, until: now + cache.patience(left) }
    }

    /// Leads, or waits for who does; where that one leaves before it has looked, joins again.
    pub(super) async fn join(&self, asked: &Asked) -> Place {
        loop {
            let follower = match self.cache.join(self.admitted, asked, self.exact_only) {
                None => return Place::Alone,
                Some(Joined::Leads(lead)) => return Place::Leads(lead),
                Some(Joined::Follows(follower)) => follower,
            };
            match follower.until(self.until).await {
                Followed::Answered(shared) => return Place::Shares(shared),
                Followed::Alone => return Place::Alone,
                Followed::HandedOn => {}
            }
        }
    }
}
