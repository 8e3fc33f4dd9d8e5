//! What somebody who read an answer says of it.

use crate::{
    cache::Cache,
    effect::entry_id,
    evidence::Observation,
    failure::away,
    kept::Kept,
    metrics,
    question::check_tenant,
    seal::{self, Place, hex},
    tenants::Tenant,
};
use prost::Message as _;
use signalbox_api::v1::{self, report_hit_request::Verdict};
use signalbox_ports::cache::{CacheAway, Digest, Entry};
use signalbox_types::Failure;
use subtle::ConstantTimeEq as _;

/// The name of an entry that was served for its meaning: with how near it was, and a mark that it was served to this very
/// request. So a report needs no memory of what was served, and moves no evidence that it has nothing to do with.
pub(crate) fn served_id(tenant: &Tenant, key: Digest, similarity: f32, request_id: &str) -> String {
    let similarity = similarity.to_bits();
    format!("{}-{similarity:08x}-{}", entry_id(key), mark(tenant, key, similarity, request_id))
}

fn mark(tenant: &Tenant, key: Digest, similarity: u32, request_id: &str) -> String {
    let text = format!("{} {similarity:08x} {request_id}", entry_id(key));
    let Digest(mark) = tenant.keys.text("served", &text);
    hex(&mark[..8])
}

/// An entry by its name, and how near it was where it was served for its meaning to this request.
pub(crate) fn read_id(tenant: &Tenant, id: &str, request_id: &str) -> Option<(Digest, Option<f32>)> {
    let mut parts = id.split('-');
    let digits = parts.next()?;
    let whole = u128::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 32)?;
    let key = Digest(whole.to_be_bytes());
    let (Some(similarity), Some(shown)) = (parts.next(), parts.next()) else { return Some((key, None)) };
    let bits = u32::from_str_radix(similarity, 16).ok()?;
    let ours = mark(tenant, key, bits, request_id);
    let is_ours = bool::from(ours.as_bytes().ct_eq(shown.as_bytes()));
    Some((key, is_ours.then(|| f32::from_bits(bits))))
}

impl Cache {
    /// Takes a report in. One that is repeated changes nothing.
    pub(crate) async fn report(
        &self,
        request: v1::ReportHitRequest,
    ) -> Result<v1::ReportHitResponse, Failure> {
        check_tenant("tenant_id", &request.tenant_id)?;
        if request.request_id.is_empty() {
            return Err(Failure::invalid("request_id", "is required"));
        }
        let is_right = match request.verdict() {
            Verdict::Right => true,
            Verdict::Wrong => false,
            Verdict::Unspecified => {
                return Err(Failure::invalid("verdict", "must be VERDICT_RIGHT or VERDICT_WRONG"));
            }
        };
        let tenant = self.tenants.get(&request.tenant_id);
        let Some((key, similarity)) = read_id(&tenant, &request.entry_id, &request.request_id) else {
            return Err(Failure::invalid("entry_id", "is none of Route.cache.entry_id"));
        };
        if similarity.is_none() && request.entry_id.contains('-') {
            return Err(Failure::invalid("entry_id", "is not of an answer that this request_id got"));
        }
        self.take_in(&tenant, key, similarity, is_right, &request.request_id).await.map_err(away)?;
        metrics::reported(is_right);
        Ok(v1::ReportHitResponse {})
    }

    async fn take_in(
        &self,
        tenant: &Tenant,
        key: Digest,
        similarity: Option<f32>,
        is_right: bool,
        request_id: &str,
    ) -> Result<(), CacheAway> {
        let store = &self.dependencies.store;
        let entry = store.get(tenant.digest(), &[key]).await?.filter(|entry| entry.key == key);
        // What is there no more is served no more, and nobody knows any longer what task it was of.
        let Some(entry) = entry else { return Ok(()) };
        if let (Some(similarity), Some(kept)) = (similarity, self.kept(tenant, &entry).await?) {
            let Digest(who) = tenant.keys.text("report", &format!("{} {request_id}", entry_id(key)));
            let report = u64::from_be_bytes(*who.first_chunk().unwrap_or(&[0; 8]));
            let seen = Observation { entry: key, similarity, is_right, report: Some(report) };
            self.observe(tenant, &kept.task_type, seen).await?;
        }
        if !is_right {
            store.remove(tenant.digest(), key).await?;
        }
        Ok(())
    }

    /// What lies in an entry of a tenant, wherever it is.
    async fn kept(&self, tenant: &Tenant, entry: &Entry) -> Result<Option<Kept>, CacheAway> {
        let store = &*self.dependencies.store;
        let Some(key_id) = seal::key_id(&entry.sealed) else { return Ok(None) };
        let Some(data_key) = tenant.data_key_of(store, key_id).await? else { return Ok(None) };
        let place = Place { partition: &entry.partition, key: entry.key, epochs: &entry.epochs };
        let plain = seal::open(&data_key, place, &entry.sealed);
        Ok(plain.ok().and_then(|plain| Kept::decode(&*plain).ok()))
    }
}
