//! Who calls: found out once, in front of every method that a listener serves.
//!
//! [`AccessLayer`] asks the process's [`Authenticator`](signalbox_ports::Authenticator), or looks at the roles in the
//! caller's certificate where the listener is for roles, and puts the caller's [`Identity`] into the extensions of the
//! request, where [`identity`] finds it. [`serve`](crate::serve::serve) does not
//! listen without one. While an answer comes, it is looked again every few seconds: a key that was revoked ends it.

mod admin_key;
mod connection;
mod gate;
mod held;
mod layer;
mod lone;

pub use admin_key::AdminKey;
pub use connection::Connection;
pub use gate::MayCall;
pub use layer::{Access, AccessLayer};
pub use lone::LoneAuthenticator;

use signalbox_api::status::to_status;
use signalbox_ports::{Identity, Scope};
use signalbox_types::Failure;
use std::sync::{Arc, LazyLock};

/// Who calls from inside this process: another role of it.
static INSIDE: LazyLock<Arc<Identity>> =
    LazyLock::new(|| Arc::new(Identity { key_id: String::new(), scope: Scope::Deployment }));

pub(crate) fn register_metrics() {
    layer::register_metrics();
}

/// Who makes a call. One that came through no listener comes from inside this process, and may do everything.
pub fn identity<T>(request: &tonic::Request<T>) -> Arc<Identity> {
    request.extensions().get().unwrap_or(&*INSIDE).clone()
}

/// Who makes a call, if they may, as in `require(&request, Identity::may_operate)?`.
///
/// # Errors
/// What `may` says.
pub fn require<T>(
    request: &tonic::Request<T>,
    may: fn(&Identity) -> Result<(), Failure>,
) -> Result<Arc<Identity>, tonic::Status> {
    let caller = identity(request);
    may(&caller).map_err(|failure| to_status(&failure))?;
    Ok(caller)
}

#[cfg(test)]
pub(crate) mod tests;
