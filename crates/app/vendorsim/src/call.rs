//! A request to a vendor, as its simulation sees it.

use crate::fault::Quirks;
use crate::problem::{Kind, Problem};
use crate::seed::Seed;
use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;
use std::time::SystemTime;

/// The key that no vendor accepts.
const BAD_KEY: &str = "bad-key";

/// A request to a vendor.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) method: &'a Method,
    /// Path below the vendor's prefix, as in `/v1/models`.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    /// The JSON body, or what is wrong with it.
    pub(crate) body: Result<Value, String>,
    /// The body as it came.
    pub(crate) raw: &'a Bytes,
    /// The model, without a fault suffix; empty where none was named.
    pub(crate) model: String,
    pub(crate) seed: Seed,
    pub(crate) quirks: Quirks,
    pub(crate) now: SystemTime,
    /// It is a request within a batch.
    pub(crate) in_batch: bool,
}

impl Call<'_> {
    /// A header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// What is left of a limit, as a header says it.
    pub(crate) fn left_of(&self, limit: u64) -> String {
        (limit * self.quirks.quota.unwrap_or(100) / 100).to_string()
    }

    /// A parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// How long a page may be: `usual` where the query does not say, and never above `most`.
    pub(crate) fn limit(&self, usual: usize, most: usize) -> usize {
        self.parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usual).clamp(1, most)
    }

    /// The key of an `Authorization: Bearer` header.
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ").map(str::trim)
    }

    /// The credentials, as a careless error repeats them.
    pub(crate) fn credentials(&self) -> Option<String> {
        let sent = |name: &&str| self.headers.contains_key(*name);
        let name = ["authorization", "x-api-key", "x-goog-api-key"].into_iter().find(sent)?;
        Some(format!("You sent {name}: {}", self.header(name)?))
    }

    /// The body.
    pub(crate) fn json(&self) -> Result<&Value, Problem> {
        let body = self.body.as_ref().map_err(|message| Problem::invalid(message.clone()))?;
        body.is_object().then_some(body).ok_or_else(|| Problem::invalid("the body must be a JSON object"))
    }
}

/// Accepts any key but an empty one and `bad-key`.
pub(crate) fn check_key(key: Option<&str>) -> Result<(), Problem> {
    match key {
        None | Some("") => Err(Problem::new(Kind::NoKey)),
        Some(BAD_KEY) => Err(Problem::new(Kind::BadKey)),
        Some(_) => Ok(()),
    }
}
