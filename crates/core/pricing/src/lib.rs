//! What model calls cost: prices with steps and dates, the exchange rate, and estimates made before a call.
//!
//! Pure and exact: rates are integers, time comes in as a [`Day`], and the one rounding is up, at the end. An
//! unknown price is `None`, never zero.
//!
//! ```
//! use signalbox_pricing::{Day, ExchangeRate, ModelPrices, PriceBook, PriceRow, Rate, Rates};
//! use signalbox_types::{Lane, ModelRef, TokenUsage};
//!
//! let model = ModelRef::new("openai", "gpt-6-luna");
//! let rates = Rates::new(Rate::from_usd_per_mtok("0.10")?, Rate::from_usd_per_mtok("0.50")?);
//! let mut book = PriceBook::new("2026-11-29", vec![ExchangeRate::new(860_000, Day::parse("2026-11-29")?)]);
//! book.set(model.clone(), ModelPrices::new(vec![PriceRow::new(rates)]));
//!
//! let usage = TokenUsage { input: 1_000, output: 200, ..TokenUsage::default() };
//! let cost = book.cost(&model, &usage, Lane::Interactive, Day::parse("2026-11-29")?).unwrap();
//! assert_eq!(cost.to_string(), "€0.000172");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrived;
mod book;
mod day;
mod estimate;
mod lifecycle;
mod prices;
mod rate;
mod so_far;

pub use arrived::{arrived_in_part, arrived_whole};
pub use book::{ExchangeRate, PriceBook};
pub use day::{Day, InvalidDay};
pub use estimate::{estimate_answer_tokens, estimate_input_tokens, estimate_prompt_tokens, estimate_tokens};
pub use lifecycle::{Lifecycle, ModelStatus};
pub use prices::{ModelPrices, PriceRow, PriceStep, Rates, StepBound};
pub use rate::{InvalidDecimal, Rate, parse_decimal};
pub use so_far::SoFar;

#[cfg(test)]
mod tests;
