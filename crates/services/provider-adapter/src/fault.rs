//! Faults made on purpose, for a drill: a vendor that does to one call what the drill says.
//!
//! To the rest of the adapter, and to the router's health, breakers and holds, it looks as if the vendor had failed:
//! what they then do is what a drill is to show.

mod stream;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use signalbox_api::{convert, v1};
use signalbox_kit::{catalog::Timeouts, config::ConfigHandle};
use signalbox_ports::{BoxAnswerStream, VendorApi, VendorReply, VendorTarget, vendor_batch::VendorBatches};
use signalbox_pricing::arrived_whole;
use signalbox_types::{DrillFault, EmbedRequest, EmbeddingAnswer, ErrorReason, Failure, ModelAnswer, Prompt};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use stream::FaultyStream;
use tokio::time::{Instant, sleep, timeout_at};

/// Told with every failure, so that whoever reads of it is not misled.
const ON_PURPOSE: &str = "made on purpose by a drill";

/// A fault that is done to a call, and whether the call has reached the vendor in spite of it.
#[derive(Debug, Clone)]
pub(crate) struct Injected {
    pub(crate) fault: DrillFault,
    reached: Arc<AtomicBool>,
}

impl Injected {
    /// Reads the fault of a call; `None` where it has none. Refused unless the configuration allows drills.
    pub(crate) fn read(wire: Option<v1::Fault>, config: &ConfigHandle) -> Result<Option<Self>, Failure> {
        if wire.is_none() {
            return Ok(None);
        }
        if !config.loaded().config.drills.enabled {
            let message = "drills are off at this adapter: set `drills.enabled: true` in its configuration";
            return Err(Failure::invalid("fault", message));
        }
        let fault = convert::drill_fault_from_proto(wire, "fault")?;
        Ok(Some(Self { fault, reached: Arc::default() }))
    }

    /// Whether the vendor was called at all.
    pub(crate) fn reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

/// A vendor with a fault, for one call.
#[derive(Debug)]
pub(crate) struct FaultyVendor {
    pub(crate) name: Arc<str>,
    pub(crate) vendor: Arc<dyn VendorApi>,
    pub(crate) injected: Injected,
    /// The vendor entry's, by which it is too late or not.
    pub(crate) timeouts: Timeouts,
}

impl FaultyVendor {
    /// Fails where the vendor is not to be called.
    fn refuse(&self) -> Result<(), Failure> {
        match self.injected.fault {
            DrillFault::Status(status) => {
                let mut failure = self.vendor.failure_of(status);
                failure.message = format!("{}, {ON_PURPOSE}", failure.message);
                Err(failure)
            }
            _ => Ok(()),
        }
    }

    /// How late the call is made.
    fn lateness(&self, stream: bool) -> Duration {
        self.injected.fault.lateness(stream).unwrap_or_default()
    }

    /// Makes a call, late, if it is not too late by then.
    async fn late<T>(
        &self,
        lateness: Duration,
        due: Due,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let late = async {
            if !lateness.is_zero() {
                sleep(lateness).await;
            }
            self.injected.reached.store(true, Ordering::Relaxed);
            call.await
        };
        timeout_at(due.at, late).await.unwrap_or_else(|_| Err(due.missed(&self.name)))
    }

    /// When the first byte is due, of a call that begins now.
    fn due(&self, target: VendorTarget<'_>) -> Due {
        let Timeouts { first_byte, total, .. } = self.timeouts;
        let whole = target.timeout.map_or(total, |callers| callers.min(total));
        Due::within([("first_byte", first_byte), ("total", whole)])
    }
}

/// When something is due, and by which limit.
#[derive(Debug, Clone, Copy)]
struct Due {
    at: Instant,
    limit: (&'static str, Duration),
}

impl Due {
    /// By the shortest of these limits, from now.
    fn within<const N: usize>(limits: [(&'static str, Duration); N]) -> Self {
        let shortest = limits.into_iter().min_by_key(|(_, limit)| *limit);
        let limit = shortest.unwrap_or(("total", Duration::ZERO));
        Self { at: Instant::now() + limit.1, limit }
    }

    fn missed(&self, vendor: &str) -> Failure {
        let (name, limit) = self.limit;
        let message = format!("vendor `{vendor}`: no answer within {limit:?} ({name} timeout), {ON_PURPOSE}");
        Failure::new(ErrorReason::VendorTimeout, message)
    }
}

#[async_trait]
impl VendorApi for FaultyVendor {
    async fn generate(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<ModelAnswer>, Failure> {
        self.refuse()?;
        let call = self.vendor.generate(target, prompt);
        let reply = self.late(self.lateness(false), self.due(target), call).await?;
        match self.injected.fault {
            DrillFault::CutAfter(_) => {
                let message = format!("vendor `{}`: the answer broke off, {ON_PURPOSE}", self.name);
                let failure = Failure::new(ErrorReason::VendorBadResponse, message);
                Err(failure.after(arrived_whole(&reply.value)))
            }
            _ => Ok(reply),
        }
    }

    async fn stream(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<BoxAnswerStream>, Failure> {
        self.refuse()?;
        let due = self.due(target);
        let mut reply = self.late(self.lateness(true), due, self.vendor.stream(target, prompt)).await?;
        reply.value = Box::pin(FaultyStream::new(reply.value, self, due));
        Ok(reply)
    }

    async fn embed(
        &self,
        target: VendorTarget<'_>,
        request: &EmbedRequest,
    ) -> Result<VendorReply<EmbeddingAnswer>, Failure> {
        self.vendor.embed(target, request).await
    }

    async fn count_tokens(&self, target: VendorTarget<'_>, prompt: &Prompt) -> Result<Option<u64>, Failure> {
        self.vendor.count_tokens(target, prompt).await
    }

    fn failure_of(&self, status: u16) -> Failure {
        self.vendor.failure_of(status)
    }

    fn simulated(&self) -> bool {
        self.vendor.simulated()
    }

    fn batches(&self) -> Option<&dyn VendorBatches> {
        self.vendor.batches()
    }
}
