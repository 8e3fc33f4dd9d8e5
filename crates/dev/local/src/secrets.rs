//! What nobody else may know.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// The secrets of a system, made up when it is made.
#[derive(Clone, Serialize, Deserialize)]
pub struct Secrets {
    /// The key that all roles share, and the operator's.
    pub admin_key: String,
    /// What answers in the cache are sealed with.
    pub cache: String,
    /// What NATS, Redis, PostgreSQL and ClickHouse's engine ask for.
    pub engines: String,
}

impl Secrets {
    /// New ones.
    pub(crate) fn draw() -> Self {
        Self { admin_key: random(), cache: random(), engines: random() }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

fn random() -> String {
    rand::random::<[u8; 24]>().iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}
