//! The price book: every model's prices, and the way from USD to EUR.

use crate::{Day, ModelPrices, PriceRow, Rate};
use signalbox_types::{Lane, ModelRef, Money, TokenUsage};
use std::{collections::HashMap, sync::Arc};

/// Vendors' cost reports count in 10⁻¹⁰ USD.
const PICO_USD_PER_TICK: u128 = 100;
/// Shares and exchange rates count in millionths.
const WHOLE: u128 = 1_000_000;
const PICO_PER_NANO: u128 = 1_000;

/// What a dollar is worth from some day on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeRate {
    /// Micro-EUR for one USD: 860 000 is €0.86.
    pub micro_eur_per_usd: u64,
    /// First day. Days before the first rate use the first rate.
    pub from: Day,
}

impl ExchangeRate {
    /// A rate and its first day.
    pub const fn new(micro_eur_per_usd: u64, from: Day) -> Self {
        Self { micro_eur_per_usd, from }
    }
}

/// Every model's prices.
#[derive(Debug, Clone, Default)]
pub struct PriceBook {
    version: String,
    exchange_rates: Vec<ExchangeRate>,
    models: HashMap<ModelRef, ModelPrices>,
    vendor_defaults: HashMap<Arc<str>, ModelPrices>,
}

impl PriceBook {
    /// A book without prices. `version` names its content in usage records.
    pub fn new(version: impl Into<String>, mut exchange_rates: Vec<ExchangeRate>) -> Self {
        exchange_rates.sort_by_key(|rate| rate.from);
        Self { version: version.into(), exchange_rates, ..Self::default() }
    }

    /// Sets what a model costs.
    pub fn set(&mut self, model: ModelRef, prices: ModelPrices) {
        self.models.insert(model, prices);
    }

    /// Sets what every model of a vendor costs that has no prices of its own (self-hosted ones: nothing).
    pub fn set_vendor_default(&mut self, vendor: impl Into<Arc<str>>, prices: ModelPrices) {
        self.vendor_defaults.insert(vendor.into(), prices);
    }

    /// Which prices these are, as kept with every cost.
    pub fn price_version(&self) -> &str {
        &self.version
    }

    /// What a model costs; `None` where that is unknown.
    pub fn prices(&self, model: &ModelRef) -> Option<&ModelPrices> {
        self.models.get(model).or_else(|| self.vendor_defaults.get(&model.vendor))
    }

    /// What a call cost: what the vendor itself reports, else the tokens at the day's prices. `None` where the
    /// price is unknown. Rounded up, once.
    pub fn cost(&self, model: &ModelRef, usage: &TokenUsage, lane: Lane, day: Day) -> Option<Money> {
        if let Some(ticks) = usage.vendor_cost_usd_ticks {
            return self.money(u128::from(ticks) * PICO_USD_PER_TICK, WHOLE, day);
        }
        let row = self.prices(model)?.on(day)?;
        self.money(row.rates_for(usage.prompt_tokens()).pico_usd(usage), share(row, lane), day)
    }

    /// The most a call of at most so many tokens can cost, for a reservation: the dearest step it can reach, every
    /// prompt token at the dearest prompt rate (cache writes cost more than plain input at some vendors), no batch
    /// discount. `None` where the price is unknown.
    pub fn worst_case(
        &self,
        model: &ModelRef,
        prompt_tokens: u64,
        max_output: u64,
        day: Day,
    ) -> Option<Money> {
        self.worst_case_in(Lane::Interactive, model, prompt_tokens, max_output, day)
    }

    /// The same at a lane's price.
    pub fn worst_case_in(
        &self,
        lane: Lane,
        model: &ModelRef,
        prompt_tokens: u64,
        max_output: u64,
        day: Day,
    ) -> Option<Money> {
        let row = self.prices(model)?.on(day)?;
        self.money(row.worst_case_pico_usd(prompt_tokens, max_output), share(row, lane), day)
    }

    /// What a million tokens cost at a rate; `None` without any exchange rate.
    pub fn per_million(&self, rate: Rate, day: Day) -> Option<Money> {
        self.money(u128::from(rate.pico_usd()) * 1_000_000, WHOLE, day)
    }

    /// Micro-EUR for one USD on a day; `None` without any rate.
    pub fn micro_eur_per_usd(&self, day: Day) -> Option<u64> {
        let in_force = self.exchange_rates.iter().rev().find(|rate| rate.from <= day);
        in_force.or_else(|| self.exchange_rates.first()).map(|rate| rate.micro_eur_per_usd)
    }

    /// `pico_usd × share × rate`, rounded up to nano-EUR. A product beyond 128 bits is far beyond the largest
    /// amount, so saturating on the way gives that amount.
    fn money(&self, pico_usd: u128, share: u128, day: Day) -> Option<Money> {
        let rate = u128::from(self.micro_eur_per_usd(day)?);
        let scaled = pico_usd.saturating_mul(share).saturating_mul(rate);
        let nano_eur = scaled.div_ceil(WHOLE * WHOLE * PICO_PER_NANO);
        Some(i64::try_from(nano_eur).map_or(Money::MAX, Money::from_nano_eur))
    }
}

/// What of a price is left in a lane, in millionths.
fn share(row: &PriceRow, lane: Lane) -> u128 {
    match lane {
        Lane::Interactive => WHOLE,
        Lane::Batch => u128::from(row.batch_share()),
    }
}
