//! Tokens, counted so that each is billed once.

/// Disjoint token counts: the sum of the fields is every token that was billed.
///
/// Vendors count differently (OpenAI, xAI and Gemini include cached input in the input count, Anthropic does not;
/// xAI and Gemini keep reasoning outside the output count); the adapters normalise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Prompt tokens that were neither read from nor written to the vendor's cache.
    pub input: u64,
    /// Prompt tokens read from the vendor's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the vendor's cache, short-lived (5 minutes at Anthropic).
    pub cache_write: u64,
    /// Prompt tokens written to the vendor's cache for an hour (Anthropic only).
    pub cache_write_1h: u64,
    /// Answer tokens, reasoning not included.
    pub output: u64,
    /// Reasoning tokens, where the vendor tells them apart.
    pub reasoning: u64,
    /// Where the counts come from.
    pub source: UsageSource,
    /// What the vendor itself says the call cost, in units of 10⁻¹⁰ USD (xAI `cost_in_usd_ticks`).
    pub vendor_cost_usd_ticks: Option<u64>,
}

impl TokenUsage {
    /// Every prompt token, however billed. Sums saturate: the counts are what a vendor says.
    pub fn prompt_tokens(&self) -> u64 {
        [self.cache_read, self.cache_write, self.cache_write_1h]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }

    /// Every token of the answer, reasoning included.
    pub fn answer_tokens(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }
}

/// Where token counts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageSource {
    /// Nothing is known; the counts are zero and mean nothing.
    #[default]
    Unknown,
    /// The vendor reported them.
    Vendor,
    /// At least one count is our estimate.
    Estimated,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_no_call_can_have_do_not_wrap() {
        let senseless = TokenUsage {
            input: u64::MAX,
            cache_read: 1,
            output: u64::MAX,
            reasoning: u64::MAX,
            ..TokenUsage::default()
        };
        assert_eq!((senseless.prompt_tokens(), senseless.answer_tokens()), (u64::MAX, u64::MAX));
    }
}
