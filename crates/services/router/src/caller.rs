//! Who asks, and as whom.

use signalbox_api::{status::to_status, v1};
use signalbox_kit::access;
use signalbox_ports::Identity;
use std::sync::Arc;
use tonic::{Request, Status};

/// Who asks. A call from inside the process is trusted.
#[derive(Debug, Clone)]
pub(crate) struct Caller(Arc<Identity>);

impl Caller {
    pub(crate) fn of<T>(request: &Request<T>) -> Self {
        Self(access::identity(request))
    }

    /// The id of the key that was used; empty without one.
    pub(crate) fn key_id(&self) -> &str {
        &self.0.key_id
    }

    /// Fills in the tenant of a request that wants to spend something.
    pub(crate) fn spends_as(&self, tenant_id: &mut String) -> Result<(), Status> {
        self.0.may_spend().map_err(|failure| to_status(&failure))?;
        self.asks_as(tenant_id)
    }

    /// The request of somebody who only wants to know something.
    pub(crate) fn asking(&self, request: Option<v1::GenerateRequest>) -> Result<v1::GenerateRequest, Status> {
        let mut request = request.unwrap_or_default();
        self.asks_as(&mut request.tenant_id)?;
        Ok(request)
    }

    /// Fills in the tenant, which a tenant's key need not name.
    fn asks_as(&self, tenant_id: &mut String) -> Result<(), Status> {
        let own = self.0.tenant(tenant_id).map_err(|failure| to_status(&failure))?;
        if own != tenant_id {
            *tenant_id = own.to_owned();
        }
        Ok(())
    }
}
