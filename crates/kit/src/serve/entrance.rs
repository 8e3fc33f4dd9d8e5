//! How a listener is entered, and by whom.

use crate::{
    access::{AccessLayer, MayCall},
    tls::{Mtls, ServerTls},
};
use signalbox_ports::Authenticator;
use std::sync::Arc;

/// How a listener is entered, and by whom.
#[derive(Debug, Clone)]
pub enum Entrance {
    /// In the clear, by those whom the authenticator lets in.
    Clear(Arc<dyn Authenticator>),
    /// Over TLS, by those whom the authenticator lets in.
    Tls(Arc<ServerTls>, Arc<dyn Authenticator>),
    /// By other roles of the deployment, over TLS: they are known by their certificates and held to the arrows. Their
    /// keys are not looked at.
    Mtls(Arc<Mtls>, MayCall),
}

impl Entrance {
    pub(super) fn access(&self) -> AccessLayer {
        match self {
            Self::Clear(authenticator) | Self::Tls(_, authenticator) => {
                AccessLayer::new(authenticator.clone())
            }
            Self::Mtls(_, may_call) => AccessLayer::by_certificate(*may_call),
        }
    }
}
