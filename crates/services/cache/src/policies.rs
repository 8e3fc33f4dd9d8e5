//! What is configured now.

use signalbox_caching::TaskPolicy;
use std::{fmt, sync::Arc};

/// Knows what holds for a tenant's task. Asked anew for each request, so that a reload takes effect at once.
pub trait Policies: Send + Sync + fmt::Debug {
    /// What holds for a task type of a tenant; empty for requests without one.
    fn of(&self, tenant_id: &str, task_type: &str) -> Arc<TaskPolicy>;

    /// Whether a task type is configured; else what is wrong with it, as in `is not configured (did you mean …?)`.
    ///
    /// # Errors
    /// No request could be of it now.
    fn check_task_type(&self, task_type: &str) -> Result<(), String>;
}
