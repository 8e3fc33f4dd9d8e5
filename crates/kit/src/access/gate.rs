//! By what callers are known at a listener, and how far they come.

use super::{Connection, INSIDE};
use crate::tls::PeerRoles;
use http::HeaderValue;
use signalbox_ports::{Authenticator, Identity};
use signalbox_types::{ErrorReason, Failure};
use std::sync::Arc;

/// Whether the process is well.
const HEALTH: &str = "/grpc.health.";

/// What needs no key: whether the process is well, and what the contract is. Who shuts reflection does not serve it.
const OPEN_TO_ALL: [&str; 2] = [HEALTH, "/grpc.reflection."];

/// Whether a process that speaks for these roles may call a method, given by its path as in
/// `/signalbox.v1.CacheService/Lookup`.
pub type MayCall = fn(method: &str, caller: &PeerRoles) -> bool;

/// By what callers are known.
#[derive(Debug, Clone)]
pub(super) enum Gate {
    Key(Arc<dyn Authenticator>),
    Certificate(MayCall),
}

impl Gate {
    /// Whether everybody who can connect may call a method.
    pub(super) fn is_open(&self, method: &str) -> bool {
        matches!(self, Self::Key(_)) && OPEN_TO_ALL.iter().any(|prefix| method.starts_with(prefix))
    }

    /// Who calls a method, if they may.
    pub(super) async fn admit(
        &self,
        method: &str,
        authorization: Option<&HeaderValue>,
        connection: &Connection,
    ) -> Result<Arc<Identity>, Failure> {
        match self {
            Self::Key(authenticator) => {
                authenticator.authenticate(authorization.map(key), connection.peer_ip()).await
            }
            Self::Certificate(may_call) => held(method, connection, *may_call).map(|()| INSIDE.clone()),
        }
    }
}

/// Holds a caller to what its roles may do. Everybody with a certificate may ask whether the process is well.
fn held(method: &str, connection: &Connection, may_call: MayCall) -> Result<(), Failure> {
    let Some(roles) = connection.roles.as_ref().filter(|roles| !roles.is_empty()) else {
        return Err(Failure::new(ErrorReason::Unauthenticated, "a certificate of this deployment is needed"));
    };
    if method.starts_with(HEALTH) || may_call(method, roles) {
        return Ok(());
    }
    let message = format!("{method} may not be called by what the caller's certificate says it is: {roles}");
    Err(Failure::new(ErrorReason::PermissionDenied, message))
}

/// The key in a header; empty where it holds none, which is nobody's.
fn key(authorization: &HeaderValue) -> &str {
    let text = authorization.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        _ => "",
    }
}
