//! The prices of one model.

use crate::{Day, Rate};
use signalbox_types::TokenUsage;

/// Part of a million, for discounts.
const WHOLE: u32 = 1_000_000;

/// Price of a token by how it is billed. A rate that a vendor does not list is the one it falls back on when
/// billing, never zero: cache reads and writes are then plain input. Reasoning is billed as output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rates {
    /// Prompt tokens.
    pub input: Rate,
    /// Prompt tokens read from the vendor's cache.
    pub cache_read: Rate,
    /// Prompt tokens written to the vendor's cache.
    pub cache_write: Rate,
    /// Prompt tokens written to the vendor's cache for an hour.
    pub cache_write_1h: Rate,
    /// Answer tokens, reasoning included.
    pub output: Rate,
}

impl Rates {
    /// Rates without cache prices: every prompt token is plain input.
    pub const fn new(input: Rate, output: Rate) -> Self {
        Self { input, cache_read: input, cache_write: input, cache_write_1h: input, output }
    }

    /// Pico-USD for some tokens.
    pub(crate) fn pico_usd(&self, usage: &TokenUsage) -> u128 {
        [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.cache_write_1h, self.cache_write_1h),
            (usage.output, self.output),
            (usage.reasoning, self.output),
        ]
        .into_iter()
        .map(|(tokens, rate)| u128::from(tokens) * u128::from(rate.pico_usd()))
        .fold(0, u128::saturating_add)
    }

    /// The dearest price of a prompt token.
    fn dearest_prompt(&self) -> Rate {
        self.input.max(self.cache_read).max(self.cache_write).max(self.cache_write_1h)
    }
}

/// Whether a prompt of exactly the threshold is in the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StepBound {
    /// Only longer prompts are (OpenAI, Anthropic, Gemini).
    #[default]
    Above,
    /// It is (xAI).
    AtOrAbove,
}

/// Other rates for long prompts; they apply to the whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PriceStep {
    /// Prompt tokens.
    pub threshold: u64,
    /// What happens at exactly the threshold.
    pub bound: StepBound,
    /// What the whole request costs then.
    pub rates: Rates,
}

impl PriceStep {
    fn reached(&self, prompt_tokens: u64) -> bool {
        match self.bound {
            StepBound::Above => prompt_tokens > self.threshold,
            StepBound::AtOrAbove => prompt_tokens >= self.threshold,
        }
    }
}

/// What a model costs from some day on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PriceRow {
    /// First day; `None` is since ever.
    pub from: Option<Day>,
    /// Rates below every step.
    pub rates: Rates,
    /// Steps by context length, in any order.
    pub steps: Vec<PriceStep>,
    /// Discount of the batch lane in millionths: 500 000 is half price.
    pub batch_discount: u32,
}

impl PriceRow {
    /// A row that holds since ever, without steps and batch discount.
    pub const fn new(rates: Rates) -> Self {
        Self { from: None, rates, steps: Vec::new(), batch_discount: 0 }
    }

    /// The rates of a request with so many prompt tokens: those of the highest step it reaches.
    pub fn rates_for(&self, prompt_tokens: u64) -> &Rates {
        self.steps
            .iter()
            .filter(|step| step.reached(prompt_tokens))
            .max_by_key(|step| step.threshold)
            .map_or(&self.rates, |step| &step.rates)
    }

    /// What of the price is left in the batch lane, in millionths.
    pub(crate) fn batch_share(&self) -> u32 {
        WHOLE.saturating_sub(self.batch_discount)
    }

    /// The most that a request of at most so many tokens can cost, in pico-USD.
    pub(crate) fn worst_case_pico_usd(&self, prompt_tokens: u64, max_output: u64) -> u128 {
        let reachable = self.steps.iter().filter(|step| step.reached(prompt_tokens)).map(|step| &step.rates);
        let (prompt, answer) = std::iter::once(&self.rates)
            .chain(reachable)
            .fold((Rate::FREE, Rate::FREE), |(prompt, answer), rates| {
                (prompt.max(rates.dearest_prompt()), answer.max(rates.output))
            });
        let charge = |tokens: u64, rate: Rate| u128::from(tokens) * u128::from(rate.pico_usd());
        charge(prompt_tokens, prompt).saturating_add(charge(max_output, answer))
    }
}

/// What a model costs, over time. Without rows its price is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ModelPrices {
    rows: Vec<PriceRow>,
}

impl ModelPrices {
    /// Prices from rows in any order.
    pub fn new(mut rows: Vec<PriceRow>) -> Self {
        rows.sort_by_key(|row| row.from);
        Self { rows }
    }

    /// A model that costs nothing, which is not the same as an unknown price.
    pub fn free() -> Self {
        Self::new(vec![PriceRow::new(Rates::new(Rate::FREE, Rate::FREE))])
    }

    /// The row in force on a day.
    pub fn on(&self, day: Day) -> Option<&PriceRow> {
        self.rows.iter().rev().find(|row| row.from.is_none_or(|from| from <= day))
    }

    /// Every row, oldest first.
    pub fn rows(&self) -> &[PriceRow] {
        &self.rows
    }
}
