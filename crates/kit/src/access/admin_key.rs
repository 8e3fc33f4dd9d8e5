//! The key that all roles of a deployment share.

use crate::config::{Environment, Secret};
use http::HeaderValue;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What makes a key long enough not to be guessed.
const SHORTEST: usize = 32;

/// The key that all roles of a deployment share, by which they know each other. Its operator makes the first API key
/// with it. Never shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminKey {
    key: Secret,
    header: HeaderValue,
}

impl AdminKey {
    /// The variable of the environment that holds it.
    pub const VARIABLE: &str = "SIGNALBOX_ADMIN_KEY";

    /// The key in the environment, where there is one.
    ///
    /// # Errors
    /// It is too short, or has characters that a header cannot carry. It is not repeated.
    pub fn from_environment(env: &Environment) -> Result<Option<Self>, String> {
        env.get(Self::VARIABLE).map(Self::new).transpose()
    }

    fn new(key: &str) -> Result<Self, String> {
        let told =
            |problem: &str| format!("{}: {problem}, as `openssl rand -hex 32` gives them", Self::VARIABLE);
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(told("must be letters, digits and signs of ASCII without spaces"));
        }
        if key.len() < SHORTEST {
            return Err(told(&format!(
                "has {} characters; it needs at least {SHORTEST} random ones",
                key.len()
            )));
        }
        let mut header = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| told("must be letters, digits and signs of ASCII"))?;
        header.set_sensitive(true);
        Ok(Self { key: Secret::new(key), header })
    }

    /// Whether it is this one. Takes as long whatever is wrong with the other.
    pub fn is(&self, other: &str) -> bool {
        let digest = |key: &str| Sha256::digest(key);
        digest(self.key.expose()).ct_eq(&digest(other)).into()
    }

    /// The key itself.
    pub fn secret(&self) -> &Secret {
        &self.key
    }

    /// As the `authorization` header of a call.
    pub fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}
