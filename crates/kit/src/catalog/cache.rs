//! Which answers may be given again, ready to be asked on every request.

use super::Catalog;
use crate::config::{CacheRulesConfig, Config};
use signalbox_caching::TaskPolicy;
use std::{collections::HashMap, sync::Arc};

type ByTask = HashMap<String, Arc<TaskPolicy>>;

/// Policies of all task types, and of the tenants that have their own.
#[derive(Debug, Clone, Default)]
pub(super) struct CachePolicies {
    by_task: ByTask,
    of_tenants: HashMap<String, ByTask>,
    /// Of tasks that nobody knows.
    otherwise: Arc<TaskPolicy>,
}

impl CachePolicies {
    /// Those of a configuration that passed its checks.
    pub(super) fn of(config: &Config) -> Self {
        let own = config.tenants.iter().filter(|(_, tenant)| {
            let mut tasks = tenant.task_types.values();
            says_something(&tenant.cache) || tasks.any(|task| says_something(&task.cache))
        });
        Self {
            by_task: by_task(config, &|_| Vec::new()),
            of_tenants: own
                .map(|(id, tenant)| {
                    let of_task = |task: &str| tenant.task_types.get(task).map(|task| &task.cache);
                    let own = |task: &str| std::iter::once(&tenant.cache).chain(of_task(task)).collect();
                    (id.clone(), by_task(config, &own))
                })
                .collect(),
            otherwise: Arc::default(),
        }
    }
}

fn says_something(rules: &CacheRulesConfig) -> bool {
    *rules != CacheRulesConfig::default()
}

/// The policy of each task type, and of requests without one. `own`: what a tenant says of it, the most general first.
fn by_task<'a>(config: &'a Config, own: &dyn Fn(&str) -> Vec<&'a CacheRulesConfig>) -> ByTask {
    let policy = |name: &str, task: Option<&CacheRulesConfig>| {
        let layers = std::iter::once(&config.cache.defaults).chain(task).chain(own(name));
        let layers: Vec<_> = layers.map(CacheRulesConfig::overrides).collect();
        (name.to_owned(), Arc::new(TaskPolicy::of(name, &layers)))
    };
    let tasks = config.task_types.iter().map(|(name, task)| policy(name, Some(&task.cache)));
    tasks.chain([policy("", None)]).collect()
}

impl Catalog {
    /// What holds for a tenant's task; the type is empty for requests without one.
    pub fn cache_policy(&self, tenant_id: &str, task_type: &str) -> &Arc<TaskPolicy> {
        let own = self.cache.of_tenants.get(tenant_id).and_then(|tasks| tasks.get(task_type));
        own.or_else(|| self.cache.by_task.get(task_type)).unwrap_or(&self.cache.otherwise)
    }
}
