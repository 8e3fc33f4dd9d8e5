//! What is not an entry: epochs, leads and small values of tenants.

use crate::sizes::{allocated, hashed};
use signalbox_ports::cache::{CacheAway, Digest, Scope};
use std::collections::HashMap;

/// Scopes of a tenant whose epochs are remembered one by one.
const MOST_SCOPES: usize = 4096;

type Named = (Digest, Box<str>);

#[derive(Debug)]
pub(crate) struct Desk {
    limit: usize,
    used: usize,
    epochs: HashMap<Digest, Epochs>,
    values: HashMap<Named, Box<[u8]>>,
    leads: HashMap<(Digest, Digest), Led>,
}

#[derive(Debug, Default)]
struct Epochs {
    raised: HashMap<Scope, u64>,
    /// What all others have.
    floor: u64,
}

#[derive(Debug)]
struct Led {
    owner: Box<str>,
    expires: u64,
}

impl Epochs {
    fn of(&self, scope: Scope) -> u64 {
        self.raised.get(&scope).copied().unwrap_or(self.floor)
    }

    /// Forgets the scopes by raising all of them: what is stored is not served any more.
    fn raise_all(&mut self) {
        self.floor = self.raised.values().copied().max().unwrap_or_default().max(self.floor) + 1;
        self.raised = HashMap::new();
    }
}

impl Desk {
    pub(crate) fn new(limit: usize) -> Self {
        let (epochs, values, leads) = Default::default();
        Self { limit, used: 0, epochs, values, leads }
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    pub(crate) fn epoch(&self, tenant: Digest, scope: Scope) -> u64 {
        self.epochs.get(&tenant).map_or(0, |epochs| epochs.of(scope))
    }

    /// Raises a scope's epoch.
    pub(crate) fn raise(&mut self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway> {
        let (of_scope, of_tenant) = (hashed::<Scope, u64>(), hashed::<Digest, Epochs>());
        if !self.epochs.contains_key(&tenant) {
            self.take(of_tenant)?;
        }
        let full = self.used + of_scope > self.limit;
        let epochs = self.epochs.entry(tenant).or_default();
        let raised = epochs.of(scope) + 1;
        if !epochs.raised.contains_key(&scope) {
            if full || epochs.raised.len() >= MOST_SCOPES {
                self.used -= epochs.raised.len() * of_scope;
                epochs.raise_all();
                epochs.floor = epochs.floor.max(raised);
                return Ok(epochs.floor);
            }
            self.used += of_scope;
        }
        epochs.raised.insert(scope, raised);
        Ok(raised)
    }

    /// Who has a lead, once whoever asks for it took it where it was free.
    pub(crate) fn lead(&mut self, tenant: Digest, key: Digest, owner: &str, now: u64, expires: u64) -> bool {
        if let Some(led) = self.leads.get_mut(&(tenant, key)) {
            let mine = *led.owner == *owner || led.expires <= now;
            if mine {
                self.used = self.used + allocated(owner.len()) - allocated(led.owner.len());
                *led = Led { owner: owner.into(), expires };
            }
            return mine;
        }
        if self.take(lead_bytes(owner)).is_err() {
            self.forget_leads(now);
            // Without room nobody is kept from making an answer: there are two leaders at worst.
            if self.take(lead_bytes(owner)).is_err() {
                return true;
            }
        }
        self.leads.insert((tenant, key), Led { owner: owner.into(), expires });
        true
    }

    fn forget_leads(&mut self, now: u64) {
        let used = &mut self.used;
        self.leads.retain(|_, led| {
            let lives = led.expires > now;
            *used -= if lives { 0 } else { lead_bytes(&led.owner) };
            lives
        });
    }

    pub(crate) fn renew(&mut self, tenant: Digest, key: Digest, owner: &str, now: u64, expires: u64) -> bool {
        let led = self.leads.get_mut(&(tenant, key)).filter(|led| *led.owner == *owner && led.expires > now);
        led.map(|led| led.expires = expires).is_some()
    }

    pub(crate) fn release(&mut self, tenant: Digest, key: Digest, owner: &str) {
        if self.leads.get(&(tenant, key)).is_some_and(|led| *led.owner == *owner) {
            self.leads.remove(&(tenant, key));
            self.used -= lead_bytes(owner);
        }
    }

    pub(crate) fn value(&self, tenant: Digest, name: &str) -> Option<&[u8]> {
        self.values.get(&(tenant, name.into())).map(|value| &**value)
    }

    /// Replaces a value that is as expected, and says what it is now.
    pub(crate) fn swap(
        &mut self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway> {
        let old = self.value(tenant, name);
        if old != expected {
            return Ok(old.map(<[u8]>::to_vec));
        }
        let bytes = |value: Option<&[u8]>| value.map_or(0, |value| value_bytes(name, value));
        let (before, after) = (bytes(old), bytes(value));
        if after > before {
            self.take(after - before)?;
        } else {
            self.used -= before - after;
        }
        match value {
            Some(value) => self.values.insert((tenant, name.into()), value.into()),
            None => self.values.remove(&(tenant, name.into())),
        };
        Ok(value.map(<[u8]>::to_vec))
    }

    /// Forgets all of a tenant's but its epochs, without which what is erased could come back.
    pub(crate) fn erase(&mut self, tenant: Digest) {
        let used = &mut self.used;
        self.values.retain(|(of, name), value| {
            let lives = *of != tenant;
            *used -= if lives { 0 } else { value_bytes(name, value) };
            lives
        });
        self.leads.retain(|(of, _), led| {
            let lives = *of != tenant;
            *used -= if lives { 0 } else { lead_bytes(&led.owner) };
            lives
        });
    }

    fn take(&mut self, bytes: usize) -> Result<(), CacheAway> {
        if self.used + bytes > self.limit {
            return Err(CacheAway("no room for what is not an entry".to_owned()));
        }
        self.used += bytes;
        Ok(())
    }
}

fn lead_bytes(owner: &str) -> usize {
    hashed::<(Digest, Digest), Led>() + allocated(owner.len())
}

fn value_bytes(name: &str, value: &[u8]) -> usize {
    hashed::<Named, Box<[u8]>>() + allocated(name.len()) + allocated(value.len())
}
