//! Entries of the audit trail.

use prost::{Message, Name};
use signalbox_api::{json::to_json_line, v1::AuditEntry};
use signalbox_kit::Clock;
use signalbox_ports::Identity;
use uuid::Uuid;

/// Who does what to which thing: what an entry says before it is known how it turns out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deed<'a> {
    /// Who.
    pub(crate) actor: &'a Identity,
    /// Method called, as in `UpdateTenant`.
    pub(crate) method: &'static str,
    /// Whose thing.
    pub(crate) tenant_id: &'a str,
    /// Why, where somebody said so.
    pub(crate) reason: &'a str,
}

impl Deed<'_> {
    /// The entry. Its id is new, and serves as the etag of what was changed. Nothing that has a secret is given to it.
    pub(crate) fn entry<M: Message + Name>(
        &self,
        clock: &dyn Clock,
        resource: String,
        before: Option<&M>,
        after: Option<&M>,
    ) -> AuditEntry {
        AuditEntry {
            audit_id: Uuid::now_v7().to_string(),
            create_time: Some(clock.now().into()),
            actor_key_id: self.actor.key_id.clone(),
            method: self.method.to_owned(),
            tenant_id: self.tenant_id.to_owned(),
            resource,
            before_json: before.map(json).unwrap_or_default(),
            after_json: after.map(json).unwrap_or_default(),
            reason: self.reason.to_owned(),
        }
    }
}

/// A message of ours always has a JSON form; the fallback is there for a build whose descriptors are broken.
fn json<M: Message + Name>(message: &M) -> String {
    to_json_line(message).unwrap_or_else(|error| {
        tracing::error!(%error, "an audit entry cannot be written out");
        "{}".to_owned()
    })
}
