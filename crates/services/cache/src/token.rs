//! What a lookup hands on to the store of its answer. Whoever carries it can neither read more than ids from it nor change it.

use crate::tenants::{Tenant, Tenants};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use prost::Message;
use signalbox_ports::cache::{Digest, Epochs, Scope};
use signalbox_types::Failure;
use std::sync::Arc;
use subtle::ConstantTimeEq as _;

/// What a lookup was about.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Token {
    #[prost(string, tag = "1")]
    tenant_id: String,
    #[prost(bytes = "vec", tag = "2")]
    key: Vec<u8>,
    /// Who leads the flight; empty where this lookup does not.
    #[prost(string, tag = "3")]
    pub(crate) owner: String,
    /// Epochs when it was looked up, in the order of the question's scopes.
    #[prost(uint64, repeated, tag = "4")]
    epochs: Vec<u64>,
    /// An answer that was near and is to be compared with the new one.
    #[prost(message, optional, tag = "5")]
    pub(crate) near: Option<NearHit>,
}

/// An answer that was near.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct NearHit {
    #[prost(fixed64, tag = "1")]
    high: u64,
    #[prost(fixed64, tag = "2")]
    low: u64,
    #[prost(float, tag = "3")]
    pub(crate) similarity: f32,
    /// It could have been served, and was not in order to be compared.
    #[prost(bool, tag = "4")]
    pub(crate) is_audit: bool,
}

impl NearHit {
    pub(crate) fn new(key: Digest, similarity: f32, is_audit: bool) -> Self {
        let whole = u128::from_be_bytes(key.0);
        Self { high: (whole >> 64) as u64, low: whole as u64, similarity, is_audit }
    }

    /// The entry it lies in.
    pub(crate) fn key(&self) -> Digest {
        Digest((u128::from(self.high) << 64 | u128::from(self.low)).to_be_bytes())
    }
}

impl Token {
    pub(crate) fn new(tenant: &Tenant, key: Digest, epochs: Option<&Epochs>) -> Self {
        Self {
            tenant_id: tenant.id.clone(),
            key: key.0.to_vec(),
            owner: String::new(),
            epochs: epochs.into_iter().flatten().map(|(_, epoch)| *epoch).collect(),
            near: None,
        }
    }

    /// The key of the request that was looked up.
    pub(crate) fn key(&self) -> Digest {
        Digest(self.key.as_slice().try_into().unwrap_or_default())
    }

    /// Epochs of scopes as they were; `None` where they are not known, or were of other scopes.
    pub(crate) fn epochs(&self, scopes: &[Scope]) -> Option<Epochs> {
        let same = !scopes.is_empty() && self.epochs.len() == scopes.len();
        same.then(|| scopes.iter().copied().zip(self.epochs.iter().copied()).collect())
    }

    /// As text, with a mark that only this deployment can make.
    pub(crate) fn sealed(&self, tenant: &Tenant) -> String {
        let body = BASE64_URL_SAFE_NO_PAD.encode(self.encode_to_vec());
        let mark = BASE64_URL_SAFE_NO_PAD.encode(mark(tenant, &body).0);
        format!("{body}.{mark}")
    }

    /// Reads a token, and finds whose it is.
    pub(crate) fn read(text: &str, tenants: &Tenants) -> Result<(Self, Arc<Tenant>), Failure> {
        let refused = || Failure::invalid("lookup_token", "is none that a lookup of this deployment gave");
        let (body, shown) = text.split_once('.').ok_or_else(refused)?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(body).map_err(|_| refused())?;
        let shown = BASE64_URL_SAFE_NO_PAD.decode(shown).map_err(|_| refused())?;
        let token = Self::decode(&*bytes).map_err(|_| refused())?;
        let tenant = tenants.get(&token.tenant_id);
        let is_ours = bool::from(mark(&tenant, body).0.ct_eq(&shown));
        if is_ours && token.key.len() == 16 { Ok((token, tenant)) } else { Err(refused()) }
    }
}

fn mark(tenant: &Tenant, body: &str) -> Digest {
    tenant.keys.text("lookup_token", body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_caching::Secret;
    use std::time::Duration;

    #[test]
    fn a_token_reads_back_and_no_changed_one_does() {
        let tenants = Tenants::new(Secret::new(b"ours"), Duration::from_secs(1));
        let tenant = tenants.get("acme");
        let scopes = [Scope::Tenant, Scope::Task(Digest([3; 16]))];
        let epochs = vec![(scopes[0], 4), (scopes[1], 5)];
        let mut token = Token::new(&tenant, Digest([9; 16]), Some(&epochs));
        token.owner = "somebody".into();
        token.near = Some(NearHit::new(Digest([8; 16]), 0.5, true));
        let text = token.sealed(&tenant);
        let (read, whose) = Token::read(&text, &tenants).unwrap();
        assert_eq!((&read, &*whose.id), (&token, "acme"));
        assert_eq!((read.key(), read.near.unwrap().key()), (Digest([9; 16]), Digest([8; 16])));
        assert_eq!(read.epochs(&scopes), Some(epochs));
        assert_eq!(read.epochs(&scopes[..1]), None);

        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(Token::read(&changed, &tenants).is_err(), "byte {at}");
        }
        let elsewhere = Tenants::new(Secret::new(b"theirs"), Duration::from_secs(1));
        assert!(Token::read(&text, &elsewhere).is_err());
        for bad in ["", ".", "a.b", "é"] {
            assert!(Token::read(bad, &tenants).is_err());
        }
    }
}
