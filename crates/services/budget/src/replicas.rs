//! What routers and other roles ask: who a key belongs to, leases, reservations and settlements.

mod acquire;
mod leases;
mod rates;
mod recall;
mod refusal;
mod reserve;
mod resolve;
mod watch;

pub(crate) use acquire::acquire;
pub(crate) use leases::{end, give_back, renew};
pub(crate) use recall::Recalls;
pub(crate) use reserve::{reserve, settle};
pub(crate) use resolve::{Uses, resolve};
pub(crate) use watch::watch;

use crate::{failure, service::Dependencies};
use signalbox_api::v1::{Tenant, tenant::State};
use signalbox_types::{ErrorReason, Failure, shown};

/// The tenant that a request is for; `None` where the store has none of this id, and nothing is limited.
async fn served(dependencies: &Dependencies, tenant_id: &str) -> Result<Option<Tenant>, Failure> {
    if tenant_id.is_empty() {
        return Ok(None);
    }
    let tenant = dependencies.tenants.tenant(tenant_id).await.map_err(failure::of_reading)?;
    tenant.map(not_suspended).transpose()
}

fn not_suspended(tenant: Tenant) -> Result<Tenant, Failure> {
    match tenant.state() {
        State::Suspended => {
            let message = format!("the tenant `{}` is suspended", shown(&tenant.tenant_id));
            Err(Failure::new(ErrorReason::PermissionDenied, message))
        }
        State::Active | State::Unspecified => Ok(tenant),
    }
}
