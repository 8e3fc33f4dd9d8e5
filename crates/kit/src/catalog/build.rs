//! From a checked configuration to the catalogue.

use super::{
    Alias, Catalog, CatalogModel, Hedge, QualityPriors, Routing, TaskType, Tenant, cache::CachePolicies,
    content::ContentPolicies, fingerprint::fingerprint, prices::price_book, task::TemperaturePolicy, tenants,
};
use crate::config::{
    AliasConfig, Config, HedgeConfig, ModelConfig, ParametersConfig, QualityConfig, Secret, TaskTypeConfig,
    TemperaturePolicyConfig, VendorConfig,
};
use signalbox_pricing::Lifecycle;
use signalbox_types::{
    Capabilities, Capability, MaxTokensField, ModelFacts, ModelRef, ParameterRules, ReasoningStyle,
    VendorKind,
};
use std::{
    collections::{BTreeMap, HashMap},
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
            vendor.takes_unlisted_models().then(|| (name.clone(), template(name, vendor)))
        };
        Self {
            version: format!("{:016x}", fingerprint(texts.iter().map(|text| text.as_bytes()))),
            templates: vendors.iter().filter_map(unlisted).collect(),
            prices: price_book(config, &vendors),
            vendors,
            keys,
            models,
            index,
            aliases: aliases(&config.aliases),
            tiers: config.tiers.each().map(|(_, tier, list)| (tier, targets(list))),
            task_types: config
                .task_types
                .iter()
                .map(|(name, task)| (name.clone(), task_type(config, task)))
                .collect(),
            tenants: config
                .tenants
                .iter()
                .map(|(id, it)| (id.clone(), tenants::tenant(config, it)))
                .collect(),
            any_tenant: Tenant::default(),
            temperature_policies: config.temperature_policies.iter().map(temperature_policy).collect(),
            default_alias: config.default_alias.clone(),
            content: ContentPolicies::of(config),
            cache: CachePolicies::of(config),
            routing: Routing::from(&config.routing),
            failover: config.failover.clone(),
        }
    }
}

fn models(config: &Config) -> Vec<CatalogModel> {
    let named =
        config.models.iter().filter_map(|(name, model)| Some((name.parse::<ModelRef>().ok()?, model)));
    let mut models: Vec<_> =
        named.map(|(reference, model)| catalog_model(config, reference, model)).collect();
    models.sort_by(|left, right| left.reference.cmp(&right.reference));
    models
}

fn catalog_model(config: &Config, reference: ModelRef, model: &ModelConfig) -> CatalogModel {
    let vendor = config.vendors.get(&*reference.vendor);
    CatalogModel {
        reference,
        labels: labels(&model.labels, vendor),
        quality: quality(config, model),
        pace: model.latency.map(Into::into),
        priority: (model.priority + vendor.map_or(0.0, |vendor| vendor.priority)).clamp(-3.0, 3.0),
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

/// The model's own labels, then those of its vendor.
fn labels(own: &[String], vendor: Option<&VendorConfig>) -> Arc<[Arc<str>]> {
    let others = vendor.map(|vendor| vendor.labels.as_slice()).unwrap_or_default();
    let others = others.iter().filter(|label| !own.contains(label));
    own.iter().chain(others).map(|label| label.as_str().into()).collect()
}

fn quality(config: &Config, model: &ModelConfig) -> QualityPriors {
    const FOR_ALL: &str = "default";
    let (all, by_task) = match &model.quality {
        None => (None, BTreeMap::new()),
        Some(QualityConfig::All(share)) => (Some(share.0), BTreeMap::new()),
        Some(QualityConfig::ByTask(shares)) => {
            let mut by_task: BTreeMap<_, _> =
                shares.iter().map(|(task, share)| (task.clone(), share.0)).collect();
            (by_task.remove(FOR_ALL), by_task)
        }
    };
    let assumed = || model.tier.and_then(|tier| config.assumed_quality.of(tier));
    QualityPriors { by_task, otherwise: all.or_else(assumed) }
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
fn template(name: &Arc<str>, vendor: &VendorConfig) -> CatalogModel {
    let left_out = match vendor.kind {
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
        reference: ModelRef::new(name.clone(), "*"),
        labels: labels(&[], Some(vendor)),
        quality: QualityPriors::default(),
        pace: None,
        priority: vendor.priority,
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

pub(super) fn targets(names: &[String]) -> Arc<[ModelRef]> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

pub(super) fn aliases(aliases: &BTreeMap<String, AliasConfig>) -> BTreeMap<String, Alias> {
    let alias = |alias: &AliasConfig| Alias {
        description: alias.description.clone().unwrap_or_default(),
        targets: targets(&alias.targets),
    };
    aliases.iter().map(|(name, it)| (name.clone(), alias(it))).collect()
}

fn task_type(config: &Config, task: &TaskTypeConfig) -> TaskType {
    let alias = task.alias_or(config.default_alias.as_deref());
    let listed = alias.and_then(|name| config.aliases.get(name)).map(|alias| &alias.targets);
    TaskType {
        description: task.description.clone().unwrap_or_default(),
        alias: alias.map(str::to_owned),
        targets: task.targets.as_ref().or(listed).map(|names| targets(names)).unwrap_or_default(),
        secondary: targets(&task.secondary),
        temperature: task.temperature,
        max_output_tokens: task.max_output_tokens,
        reasoning_effort: task.reasoning_effort,
        required_capabilities: task.required_capabilities.iter().copied().collect(),
        timeout: task.timeout.map(Into::into),
        attempt_timeout: task.attempt_timeout.map(Into::into),
        first_byte_timeout: task.first_byte_timeout.map(Into::into),
        first_output_ceiling: task.first_output_ceiling.map(Into::into),
        hedge: task.hedge.map(hedge),
        max_invalid_retries: task.max_invalid_retries,
        routing: task.routing.as_ref().map(Into::into),
    }
}

fn hedge(config: HedgeConfig) -> Hedge {
    Hedge { after: config.after.into(), max_share: config.max_share }
}

fn temperature_policy(config: &TemperaturePolicyConfig) -> TemperaturePolicy {
    TemperaturePolicy { range: config.from..=config.up_to, task_type: config.task_type.clone() }
}
