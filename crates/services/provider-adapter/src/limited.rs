//! A vendor whose account has a limit of ours: who comes when it is used up is told to wait, as by the vendor itself,
//! and the vendor is not called.
//!
//! What a vendor says of its own limits holds beside it: whichever is the tighter.

mod account;
mod metrics;
mod stream;
#[cfg(test)]
mod tests;

pub use account::VendorAccount;

use account::Admitted;
use async_trait::async_trait;
use signalbox_ports::{BoxAnswerStream, VendorApi, VendorReply, VendorTarget, vendor_batch::VendorBatches};
use signalbox_pricing::{estimate_input_tokens, estimate_prompt_tokens};
use signalbox_types::{EmbedRequest, EmbeddingAnswer, Failure, ModelAnswer, Prompt, TokenUsage, UsageSource};
use std::sync::Arc;
use stream::LimitedStream;

/// What an answer may have where neither request nor catalogue says.
const ANSWER_TOKENS: u64 = 4_096;

pub(crate) fn register_metrics() {
    metrics::register();
}

/// A vendor within the limits of our account there.
#[derive(Debug)]
pub struct LimitedVendor {
    vendor: Arc<dyn VendorApi>,
    account: Arc<VendorAccount>,
}

impl LimitedVendor {
    /// The vendor, called as far as the account allows.
    pub fn new(vendor: Arc<dyn VendorApi>, account: Arc<VendorAccount>) -> Self {
        Self { vendor, account }
    }

    async fn admit(&self, target: VendorTarget<'_>, prompt: &Prompt) -> Result<Admitted, Failure> {
        let most = Some(target.facts.max_output_tokens).filter(|most| *most > 0);
        let answer = prompt.max_output_tokens.or(most).map_or(ANSWER_TOKENS, u64::from);
        self.account.admit(estimate_prompt_tokens(prompt) + answer).await
    }
}

#[async_trait]
impl VendorApi for LimitedVendor {
    async fn generate(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<ModelAnswer>, Failure> {
        let admitted = self.admit(target, prompt).await?;
        match self.vendor.generate(target, prompt).await {
            Ok(reply) => {
                admitted.used(tokens(&reply.value.usage));
                Ok(reply)
            }
            Err(failure) => Err(ended(admitted, failure)),
        }
    }

    async fn stream(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<BoxAnswerStream>, Failure> {
        let admitted = self.admit(target, prompt).await?;
        match self.vendor.stream(target, prompt).await {
            Ok(VendorReply { value, adjustments, request_id, quota_left }) => {
                let value: BoxAnswerStream = Box::pin(LimitedStream::new(value, admitted));
                Ok(VendorReply { value, adjustments, request_id, quota_left })
            }
            Err(failure) => Err(ended(admitted, failure)),
        }
    }

    async fn embed(
        &self,
        target: VendorTarget<'_>,
        request: &EmbedRequest,
    ) -> Result<VendorReply<EmbeddingAnswer>, Failure> {
        let admitted = self.account.admit(estimate_input_tokens(&request.inputs)).await?;
        match self.vendor.embed(target, request).await {
            Ok(reply) => {
                admitted.used(tokens(&reply.value.usage));
                Ok(reply)
            }
            Err(failure) => Err(ended(admitted, failure)),
        }
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

    /// Vendors count batches apart from the limits of other calls.
    fn batches(&self) -> Option<&dyn VendorBatches> {
        self.vendor.batches()
    }
}

/// What a call used; `None` where nobody knows.
fn tokens(usage: &TokenUsage) -> Option<u64> {
    (usage.source != UsageSource::Unknown).then(|| usage.prompt_tokens() + usage.answer_tokens())
}

/// A call that the vendor refused used no tokens; any other may have used all it was admitted for.
fn ended(admitted: Admitted, failure: Failure) -> Failure {
    let refused = failure.vendor_status.is_some_and(|status| (400..500).contains(&status));
    admitted.used(refused.then_some(0));
    failure
}
