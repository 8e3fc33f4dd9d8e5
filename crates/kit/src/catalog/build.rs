//! From a checked configuration to the catalogue.

use super::{Alias, Catalog, CatalogModel, Routing, TaskType, Tenant, fingerprint::fingerprint};
use crate::config::{
    AliasConfig, Config, Decimal, ModelConfig, ParametersConfig, PriceConfig, PriceStepConfig, Secret,
    TaskTypeConfig, VendorConfig,
};
use signalbox_pricing::{
    ExchangeRate, Lifecycle, ModelPrices, PriceBook, PriceRow, PriceStep, Rate, Rates, StepBound,
};
use signalbox_types::{
    Capabilities, Capability, MaxTokensField, ModelFacts, ModelRef, ParameterRules, ReasoningStyle,
    VendorKind,
};
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    path::PathBuf,
    sync::Arc,
};

/// What is assumed of an unlisted model's window: more than most self-hosted ones have, so that the server decides.
const UNLISTED_WINDOW: u32 = 131_072;

impl Catalog {
    /// The catalogue of a configuration that passed its checks. `texts` are what its version is made from.
    pub(crate) fn build(config: &Config, keys: BTreeMap<PathBuf, Secret>, texts: &[&str]) -> Self {
        let models = models(config);
        let index = models
            .iter()
            .enumerate()
            .map(|(at, model)| (model.reference.clone(), at))
            .collect::<HashMap<_, _>>();
        let vendors: BTreeMap<Arc<str>, VendorConfig> =
            config.vendors.iter().map(|(name, vendor)| (name.as_str().into(), vendor.clone())).collect();
        let unlisted = |(name, vendor): (&Arc<str>, &VendorConfig)| {
            vendor.takes_unlisted_models().then(|| (name.clone(), template(name, vendor.kind)))
        };
        Self {
            version: format!("{:016x}", fingerprint(texts.iter().map(|text| text.as_bytes()))),
            templates: vendors.iter().filter_map(unlisted).collect(),
            prices: price_book(config, &vendors),
            vendors,
            keys,
            models,
            index,
            aliases: config.aliases.iter().map(|(name, alias)| (name.clone(), alias_of(alias))).collect(),
            tiers: config.tiers.each().map(|(_, tier, list)| (tier, targets(list))),
            task_types: config
                .task_types
                .iter()
                .map(|(name, task)| (name.clone(), task_type(config, task)))
                .collect(),
            tenants: config
                .tenants
                .iter()
                .map(|(id, tenant)| {
                    let display_name = tenant.display_name.clone().unwrap_or_default();
                    (id.clone(), Tenant { display_name, default_alias: tenant.default_alias.clone() })
                })
                .collect(),
            default_alias: config.default_alias.clone(),
            routing: Routing::from(&config.routing),
            failover: config.failover.clone(),
        }
    }
}

fn models(config: &Config) -> Vec<CatalogModel> {
    let named =
        config.models.iter().filter_map(|(name, model)| Some((name.parse::<ModelRef>().ok()?, model)));
    let mut models: Vec<_> = named.map(|(reference, model)| catalog_model(reference, model)).collect();
    models.sort_by(|left, right| left.reference.cmp(&right.reference));
    models
}

fn catalog_model(reference: ModelRef, model: &ModelConfig) -> CatalogModel {
    CatalogModel {
        reference,
        facts: ModelFacts {
            capabilities: model.capabilities.iter().copied().collect(),
            context_window: model.context_window,
            max_output_tokens: model.max_output_tokens.unwrap_or(model.context_window),
            parameters: rules(&model.parameters),
        },
        lifecycle: Lifecycle {
            status: model.status,
            shutdown: model.shutdown_date.map(|date| date.0),
            successor: model.successor.as_ref().and_then(|name| name.parse().ok()),
        },
        tier: model.tier,
        source: model.source.clone().unwrap_or_default(),
        as_of: model.as_of.clone().unwrap_or_default(),
    }
}

fn rules(parameters: &ParametersConfig) -> ParameterRules {
    ParameterRules {
        refused: parameters.refused.clone(),
        sampling_needs_no_reasoning: parameters.sampling_needs_no_reasoning,
        openai_endpoint: parameters.openai_endpoint,
        max_tokens_field: parameters.max_tokens_field,
        reasoning: parameters.reasoning,
        reasoning_efforts: parameters.reasoning_efforts.clone(),
        default_effort: parameters.default_effort,
        always_reasons: parameters.always_reasons,
        json_schema_by_tool: parameters.json_schema_by_tool,
    }
}

/// What is assumed of an unlisted model: everything its server might do, so that the server decides.
fn template(vendor: &Arc<str>, kind: VendorKind) -> CatalogModel {
    let left_out = match kind {
        VendorKind::Ollama => [Capability::ForcedTools, Capability::Batch, Capability::Reasoning].as_slice(),
        _ => [Capability::Batch, Capability::Reasoning].as_slice(),
    };
    let all: Capabilities = Capability::ALL.into_iter().collect();
    let reasoning = ReasoningStyle::Unsupported;
    let parameters = ParameterRules {
        reasoning,
        max_tokens_field: MaxTokensField::MaxTokens,
        ..ParameterRules::default()
    };
    CatalogModel {
        reference: ModelRef::new(vendor.clone(), "*"),
        facts: ModelFacts {
            capabilities: all.without(left_out.iter().copied().collect()),
            context_window: UNLISTED_WINDOW,
            max_output_tokens: UNLISTED_WINDOW,
            parameters,
        },
        lifecycle: Lifecycle::default(),
        tier: None,
        source: String::new(),
        as_of: String::new(),
    }
}

fn targets(names: &[String]) -> Arc<[ModelRef]> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn alias_of(alias: &AliasConfig) -> Alias {
    Alias { description: alias.description.clone().unwrap_or_default(), targets: targets(&alias.targets) }
}

fn task_type(config: &Config, task: &TaskTypeConfig) -> TaskType {
    let alias = task.alias.as_ref().and_then(|name| config.aliases.get(name)).map(|alias| &alias.targets);
    TaskType {
        description: task.description.clone().unwrap_or_default(),
        targets: alias.or(task.targets.as_ref()).map(|names| targets(names)).unwrap_or_default(),
        temperature: task.temperature,
        max_output_tokens: task.max_output_tokens,
        reasoning_effort: task.reasoning_effort,
        required_capabilities: task.required_capabilities.iter().copied().collect(),
        timeout: task.timeout.map(Into::into),
        attempt_timeout: task.attempt_timeout.map(Into::into),
        first_byte_timeout: task.first_byte_timeout.map(Into::into),
        routing: task.routing.as_ref().map(Into::into),
    }
}

fn price_book(config: &Config, vendors: &BTreeMap<Arc<str>, VendorConfig>) -> PriceBook {
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
