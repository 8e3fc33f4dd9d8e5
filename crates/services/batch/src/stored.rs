//! What is kept of jobs and items as bytes that the store does not look into.

use prost::Message;
use sha2::{Digest, Sha256};
use signalbox_api::v1::{self, prepare_batch_item_response::Request};
use signalbox_batching::Target;
use signalbox_ports::batches::{Item, JobHead};
use signalbox_types::{ErrorReason, Failure};
use std::time::SystemTime;
use uuid::Uuid;

/// Settings of a job, and who pays for it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Details {
    #[prost(string, tag = "1")]
    pub(crate) scene: String,
    #[prost(string, tag = "2")]
    pub(crate) reference: String,
    /// Of the key by which it was handed in.
    #[prost(string, tag = "3")]
    pub(crate) key_id: String,
    #[prost(string, tag = "4")]
    pub(crate) trace_id: String,
    /// One for each scene of its items.
    #[prost(message, repeated, tag = "5")]
    pub(crate) holds: Vec<Hold>,
    /// Of what was handed in.
    #[prost(bytes = "vec", tag = "6")]
    pub(crate) digest: Vec<u8>,
}

/// Money that is set aside for the items of one scene.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Hold {
    #[prost(string, tag = "1")]
    pub(crate) scene: String,
    #[prost(string, tag = "2")]
    pub(crate) reservation_id: String,
    #[prost(message, repeated, tag = "3")]
    pub(crate) charges: Vec<v1::UsageCharge>,
    #[prost(message, optional, tag = "4")]
    pub(crate) effect: Option<v1::BudgetEffect>,
}

/// What is about to be set aside for a job that is not kept yet.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Pledged {
    /// Each has its reservation's id.
    #[prost(message, repeated, tag = "1")]
    pub(crate) asked: Vec<v1::ReserveRequest>,
}

/// The way of an item until now.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct History {
    /// Tries that have ended, none of them well.
    #[prost(message, repeated, tag = "1")]
    pub(crate) attempts: Vec<v1::UsageAttempt>,
    /// What the content policy found in request and answers.
    #[prost(message, repeated, tag = "2")]
    pub(crate) findings: Vec<v1::ContentFinding>,
}

/// What is to be known of an item that is tried.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) details: Details,
    /// As the router prepared it.
    pub(crate) prepared: v1::PrepareBatchItemResponse,
    pub(crate) history: History,
}

impl Known {
    /// Reads what is kept of an item. What cannot be read is missing.
    pub(crate) fn of(item: &Item) -> Self {
        let prepared: v1::PrepareBatchItemResponse = read_or_none(item, &item.request);
        let mut history: History = read_or_none(item, &item.history);
        if item.history.is_empty() {
            history.findings.clone_from(&prepared.content_findings);
        }
        Self { details: read_or_none(item, &item.job.details), prepared, history }
    }

    /// What a target is asked.
    pub(crate) fn request_for(&self, target: &Target) -> Option<Request> {
        let mut request = self.prepared.request.clone()?;
        if let Request::Generate(request) = &mut request {
            let is_it = |it: &&v1::CandidateEstimate| it.vendor == target.vendor && it.model == target.model;
            let candidate = self.prepared.candidates.iter().find(is_it);
            if let Some(candidate) = candidate.filter(|candidate| candidate.must_be_told) {
                request.max_output_tokens =
                    Some(i32::try_from(candidate.max_output_tokens).unwrap_or(i32::MAX));
            }
        }
        Some(request)
    }
}

fn read_or_none<T: Message + Default>(item: &Item, bytes: &[u8]) -> T {
    read(bytes).unwrap_or_else(|failure| {
        tracing::error!(item = %item.key, "an item of a batch job: {}", failure.message);
        T::default()
    })
}

/// Reads what was kept.
pub(crate) fn read<T: Message + Default>(bytes: &[u8]) -> Result<T, Failure> {
    let broken =
        |error| Failure::new(ErrorReason::Internal, format!("what is kept of it cannot be read: {error}"));
    T::decode(bytes).map_err(broken)
}

/// An id that is the same wherever and whenever it is made of the same.
pub(crate) fn derived_id(parts: &[&str]) -> String {
    let hash = parts.iter().fold(Sha256::new(), |hash, part| {
        hash.chain_update(part.len().to_be_bytes()).chain_update(part.as_bytes())
    });
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

/// The id of something of a job, such as an item's account. A later job of the same name has others.
pub(crate) fn id_in_job(job: &JobHead, what: &str, part: &str) -> String {
    let begun = job.create_time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    derived_id(&[what, &job.tenant_id, &job.job_id, &begun.as_micros().to_string(), part])
}

/// An id that was never used before.
pub(crate) fn new_id() -> String {
    Uuid::now_v7().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_all_that_they_are_made_of() {
        assert_eq!(derived_id(&["a", "b"]), derived_id(&["a", "b"]));
        assert_ne!(derived_id(&["a", "b"]), derived_id(&["ab", ""]));
        assert!(Uuid::try_parse(&derived_id(&["a"])).is_ok());
    }
}
