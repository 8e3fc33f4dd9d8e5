//! What a drill is to do, checked.

use signalbox_api::{convert, v1};
use signalbox_kit::catalog::Catalog;
use signalbox_types::{DrillFault, Failure, ModelRef};
use std::{fmt, time::Duration};

/// Longest a drill lasts.
const LONGEST: Duration = Duration::from_hours(1);
/// The quantiles that are compared are right to 2 % each, and a little is the machine's.
const QUANTILE_ERROR: f64 = 1.05;
/// What a busy machine may add.
const GRACE: Duration = Duration::from_millis(250);

/// What a drill is to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    pub(super) vendor: String,
    /// Every model where empty.
    pub(super) model: String,
    /// Every tenant where empty.
    pub(super) tenant: String,
    pub(super) fault: DrillFault,
    pub(super) share: f64,
    pub(super) duration: Duration,
    pub(super) max_calls: Option<u64>,
    /// What a failover from this vendor may add to an answer's time.
    pub(super) allowed: Duration,
}

impl Wanted {
    /// Reads what an operator wants; the failure names the field at fault.
    pub(super) fn read(wire: &v1::Drill, catalog: &Catalog) -> Result<Self, Failure> {
        let target = wire.target.clone().unwrap_or_default();
        let fault = convert::drill_fault_from_proto(wire.fault, "drill.fault")?;
        let first_byte = first_byte(&target, catalog)?;
        if !(wire.share > 0.0 && wire.share <= 1.0) {
            let message = format!("{} is not above 0 and at most 1", wire.share);
            return Err(Failure::invalid("drill.share", message));
        }
        let duration = wire.duration.and_then(convert::duration_from_proto);
        let duration = duration.filter(|duration| !duration.is_zero() && *duration <= LONGEST);
        let duration = duration
            .ok_or_else(|| Failure::invalid("drill.duration", "must be more than 0 and at most one hour"))?;
        let failover = catalog.failover();
        let retries = failover.quick_retry_delay.0 * failover.max_same_vendor_retries;
        Ok(Self {
            vendor: target.vendor,
            model: target.model,
            tenant: wire.tenant_id.clone(),
            fault,
            share: wire.share,
            duration,
            max_calls: (wire.max_calls > 0).then_some(wire.max_calls),
            allowed: (first_byte + retries).mul_f64(QUANTILE_ERROR) + GRACE,
        })
    }

    /// Whether a call is one that may be hit.
    pub(super) fn aims_at(&self, tenant: &str, model: &ModelRef) -> bool {
        self.is_of(tenant)
            && self.vendor == *model.vendor
            && (self.model.is_empty() || self.model == *model.model)
    }

    /// Whether a tenant's requests are looked at.
    pub(super) fn is_of(&self, tenant: &str) -> bool {
        self.tenant.is_empty() || self.tenant == tenant
    }

    /// Whether some call could be hit by both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let meet = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
        self.vendor == other.vendor && meet(&self.model, &other.model) && meet(&self.tenant, &other.tenant)
    }

    pub(super) fn target(&self) -> v1::Target {
        v1::Target { vendor: self.vendor.clone(), model: self.model.clone() }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = if self.model.is_empty() { "*" } else { &self.model };
        let tenant = if self.tenant.is_empty() { "all tenants" } else { &self.tenant };
        let Self { vendor, fault, share, duration, .. } = self;
        write!(f, "{fault} for {share} of the calls of {tenant} to {vendor}/{model}, for {duration:?}")
    }
}

/// The vendor's limit on the time to the first byte. It and the model must be in the catalogue.
fn first_byte(target: &v1::Target, catalog: &Catalog) -> Result<Duration, Failure> {
    let v1::Target { vendor, model } = target;
    let Some(known) = catalog.vendor(vendor) else {
        let message =
            if vendor.is_empty() { "is missing".to_owned() } else { format!("no vendor `{vendor}`") };
        return Err(Failure::invalid("drill.target.vendor", message));
    };
    if !model.is_empty() && catalog.model(&ModelRef::new(vendor.clone(), model.clone())).is_none() {
        return Err(Failure::invalid("drill.target.model", format!("no model `{model}` of `{vendor}`")));
    }
    Ok(known.timeouts.first_byte.0)
}
