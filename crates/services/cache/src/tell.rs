//! What the cache holds, does and saves.

use crate::{cache::Cache, failure::away, stats::HOURS, tenants::Tenant};
use signalbox_api::{
    convert::{duration_from_proto, duration_to_proto},
    v1::{self, CacheStats, cache_stats::SemanticMode},
};
use signalbox_caching::{Scope, Semantic};
use signalbox_ports::cache::{CacheAway, Digest, Held};
use signalbox_types::Failure;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const WEEK: Duration = Duration::from_hours(7 * 24);

impl Cache {
    /// Counts of the window by task, and how each task stands now.
    pub(crate) async fn tell(
        &self,
        request: v1::GetCacheStatsRequest,
    ) -> Result<v1::GetCacheStatsResponse, Failure> {
        let window = match request.window {
            None => DAY,
            Some(window) => duration_from_proto(window)
                .filter(|window| !window.is_zero() && *window <= WEEK)
                .ok_or_else(|| Failure::invalid("window", "must be above 0 and at most 7 days"))?,
        };
        let tenant = Some(&request.tenant_id).filter(|id| !id.is_empty()).map(|id| self.tenants.get(id));
        let (hours, counted_from) = self.hours(window);
        let mut counted = self.counted(tenant.as_deref().map(Tenant::digest), hours).await.map_err(away)?;
        if !request.task_type.is_empty() {
            counted.retain(|task_type, _| *task_type == request.task_type);
            counted.entry(request.task_type.clone()).or_default().task_type.clone_from(&request.task_type);
        }
        let mut stats: Vec<_> = counted.into_values().collect();
        stats.sort_by(|one, other| one.task_type.cmp(&other.task_type));
        self.complete(tenant.as_ref(), &mut stats).await.map_err(away)?;
        Ok(v1::GetCacheStatsResponse { stats, window: Some(duration_to_proto(counted_from)) })
    }

    /// Whole hours that hold a window, and how far back these begin.
    fn hours(&self, window: Duration) -> (u64, Duration) {
        let now = self.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let into_hour = Duration::from_secs(now.as_secs() % HOUR.as_secs());
        let before = window.saturating_sub(into_hour).as_secs().div_ceil(HOUR.as_secs());
        let hours = (before + 1).min(HOURS);
        (hours, into_hour + HOUR * u32::try_from(hours - 1).unwrap_or(u32::MAX))
    }

    /// How tasks stand now.
    async fn complete(
        &self,
        tenant: Option<&Arc<Tenant>>,
        stats: &mut [CacheStats],
    ) -> Result<(), CacheAway> {
        let tenants = tenant.map_or_else(|| self.tenants.all(), |tenant| vec![tenant.clone()]);
        for whose in &tenants {
            let held: HashMap<Digest, Held> =
                self.dependencies.store.held(whose.digest()).await?.into_iter().collect();
            for stats in &mut *stats {
                let Scope::Task(task) = whose.keys.task(&stats.task_type) else { continue };
                let held = held.get(&task).copied().unwrap_or_default();
                stats.entries += held.entries;
                stats.bytes += held.bytes;
            }
        }
        let tenant_id = tenant.map_or("", |tenant| &tenant.id);
        for stats in stats {
            let policy = self.dependencies.policies.of(tenant_id, &stats.task_type);
            stats.semantic_mode = mode(policy.semantic).into();
            if let (Some(tenant), true) = (tenant, policy.semantic != Semantic::Off) {
                let evidence = self.evidence(tenant, &stats.task_type).await?;
                let floor = policy.floor_of(self.vectors.embedder());
                let standing = evidence.pool.standing(policy.precision_target, floor, self.now());
                stats.precision_lower_bound = standing.lower_bound;
            }
        }
        Ok(())
    }
}

fn mode(semantic: Semantic) -> SemanticMode {
    match semantic {
        Semantic::Off => SemanticMode::Off,
        Semantic::Shadow => SemanticMode::Shadow,
        Semantic::On => SemanticMode::On,
    }
}
