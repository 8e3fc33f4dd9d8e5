//! The price book of a configuration.

use super::fingerprint::fingerprint;
use crate::config::{Config, Decimal, PriceConfig, PriceStepConfig, VendorConfig};
use signalbox_pricing::{ExchangeRate, ModelPrices, PriceBook, PriceRow, PriceStep, Rate, Rates, StepBound};
use signalbox_types::ModelRef;
use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

pub(super) fn price_book(config: &Config, vendors: &BTreeMap<Arc<str>, VendorConfig>) -> PriceBook {
    let exchange = config.exchange_rate.as_ref().map(|rate| ExchangeRate::new(rate.usd_eur.0, rate.as_of.0));
    let mut prices = Vec::new();
    let mut content = format!("{exchange:?}");
    for (name, model) in &config.models {
        let Ok(reference) = name.parse::<ModelRef>() else { continue };
        let free = vendors.get(&reference.vendor).is_some_and(VendorConfig::takes_unlisted_models);
        let rows = match &model.prices {
            Some(rows) => ModelPrices::new(rows.as_slice().iter().map(row).collect()),
            None if free => ModelPrices::free(),
            None => ModelPrices::default(),
        };
        // Writing to a String cannot fail.
        let _ = write!(content, "{reference} {rows:?}");
        prices.push((reference, rows));
    }
    let version = format!("{:016x}", fingerprint([content.as_bytes()]));
    let mut book = PriceBook::new(version, exchange.into_iter().collect());
    prices.into_iter().for_each(|(reference, rows)| book.set(reference, rows));
    for (name, _) in vendors.iter().filter(|(_, vendor)| vendor.takes_unlisted_models()) {
        book.set_vendor_default(name.clone(), ModelPrices::free());
    }
    book
}

fn row(price: &PriceConfig) -> PriceRow {
    PriceRow {
        from: price.from.map(|date| date.0),
        rates: rates(price.input, [price.cache_read, price.cache_write, price.cache_write_1h], price.output),
        steps: price.steps.iter().map(step).collect(),
        batch_discount: price
            .batch_discount
            .and_then(|share| u32::try_from(share.0).ok())
            .unwrap_or_default(),
    }
}

fn step(step: &PriceStepConfig) -> PriceStep {
    let bound = if step.at_or_above.is_some() { StepBound::AtOrAbove } else { StepBound::Above };
    PriceStep {
        threshold: step.at_or_above.or(step.above).unwrap_or_default(),
        bound,
        rates: rates(step.input, [step.cache_read, step.cache_write, step.cache_write_1h], step.output),
    }
}

fn rates(input: Decimal, cache: [Option<Decimal>; 3], output: Decimal) -> Rates {
    let rate = |decimal: Decimal| Rate::from_pico_usd(decimal.0);
    let [read, write, write_1h] = cache;
    let cache_write = write.unwrap_or(input);
    Rates {
        input: rate(input),
        cache_read: rate(read.unwrap_or(input)),
        cache_write: rate(cache_write),
        cache_write_1h: rate(write_1h.unwrap_or(cache_write)),
        output: rate(output),
    }
}
