use super::*;
use signalbox_types::{Parameter, ReasoningEffort, ReasoningStyle};

fn facts(name: &str) -> ModelFacts {
    load("").catalog.model(&model(name)).unwrap().facts.clone()
}

fn cost(name: &str, usage: &TokenUsage, lane: Lane, at: &str) -> i64 {
    load("exchange_rate: {usd_eur: 1}")
        .catalog
        .prices()
        .cost(&model(name), usage, lane, day(at))
        .unwrap()
        .nano_eur()
}

#[test]
fn every_model_has_a_source_a_date_a_price_and_something_it_can_do() {
    let loaded = load("");
    assert!(loaded.catalog.models().len() > 100);
    for known in loaded.catalog.models() {
        let name = &known.reference;
        assert!(!known.source.is_empty() && !known.as_of.is_empty(), "{name}");
        assert!(known.facts.capabilities != Capabilities::NONE, "{name}");
        assert!(loaded.catalog.prices().prices(name).unwrap().on(today()).is_some(), "{name}");
        if let Some(successor) = &known.lifecycle.successor {
            assert!(loaded.catalog.served(successor, today()), "{name} -> {successor}");
        }
    }
}

#[test]
fn every_alias_tier_and_task_leads_to_active_models_that_can_do_it() {
    let loaded = load("");
    let catalog = &loaded.catalog;
    let tiers = [Tier::Premium, Tier::Standard, Tier::Economy];
    for target in catalog
        .aliases()
        .values()
        .flat_map(|alias| alias.targets.iter())
        .chain(tiers.iter().flat_map(|tier| catalog.tier(*tier)))
    {
        let known = catalog.model(target).unwrap();
        assert_eq!(known.lifecycle.status_on(day("2027-02-01")), ModelStatus::Active, "{target}");
    }
    for tier in tiers {
        assert!(
            catalog.tier(tier).iter().all(|target| catalog.model(target).unwrap().tier == Some(tier)),
            "{tier:?}"
        );
    }
    for (name, task) in catalog.task_types() {
        let able = |target: &&ModelRef| {
            catalog.model(target).unwrap().facts.capabilities.contains(task.required_capabilities)
        };
        assert!(task.targets.iter().filter(able).count() >= 2, "{name}");
        for target in task.secondary.iter() {
            let known = catalog.model(target).unwrap();
            assert_eq!(known.lifecycle.status_on(day("2027-02-01")), ModelStatus::Active, "{name}: {target}");
            assert!(able(&target), "{name}: {target}");
        }
    }
    for alias in ["fast", "smart", "cheap", "creative", "code", "vision", "reasoning", "embedding", "local"] {
        let able = |target: &ModelRef, wanted| catalog.model(target).unwrap().facts.capabilities.has(wanted);
        let wanted = match alias {
            "vision" => Capability::ImageInput,
            "embedding" => Capability::Embeddings,
            _ => Capability::Text,
        };
        assert!(catalog.aliases()[alias].targets.iter().all(|target| able(target, wanted)), "{alias}");
    }
}

#[test]
fn openai_surfaces_follow_the_generation() {
    let endpoint = |name: &str| facts(name).parameters.openai_endpoint;
    assert_eq!(endpoint("openai/gpt-4o"), OpenAiEndpoint::Chat);
    assert_eq!(endpoint("openai/gpt-5.2"), OpenAiEndpoint::Chat);
    assert_eq!(endpoint("openai/gpt-5.4"), OpenAiEndpoint::ResponsesForTools);
    assert_eq!(endpoint("openai/gpt-6-luna"), OpenAiEndpoint::ResponsesForTools);
    assert_eq!(endpoint("openai/gpt-5.5-pro"), OpenAiEndpoint::Responses);
    let luna = facts("openai/gpt-6-luna").parameters;
    assert!(
        luna.sampling_needs_no_reasoning && !luna.always_reasons && luna.refused.contains(&Parameter::Stop)
    );
    assert_eq!(facts("openai/gpt-5.4").parameters.default_effort, Some(ReasoningEffort::None));
    assert!(facts("openai/o3").parameters.refused.contains(&Parameter::Temperature));
    assert!(!facts("openai/gpt-4o").parameters.refused.contains(&Parameter::Temperature));
}

#[test]
fn anthropic_models_are_asked_to_think_the_way_they_know() {
    let opus = facts("anthropic/claude-opus-5-5");
    assert_eq!(opus.parameters.reasoning, ReasoningStyle::AnthropicAdaptive);
    assert!(opus.parameters.always_reasons && opus.parameters.refused.contains(&Parameter::TopK));
    assert!(!opus.capabilities.has(Capability::ForcedTools) && opus.capabilities.has(Capability::JsonSchema));
    let haiku = facts("anthropic/claude-haiku-4-5-20251001");
    assert_eq!(haiku.parameters.reasoning, ReasoningStyle::AnthropicBudget);
    assert!(
        haiku.capabilities.has(Capability::ForcedTools)
            && !haiku.parameters.refused.contains(&Parameter::Temperature)
    );
    assert!(facts("anthropic/claude-sonnet-4-20250514").capabilities.has(Capability::JsonSchema));
    assert_eq!(
        facts("anthropic/claude-3-5-haiku-20241022").parameters.reasoning,
        ReasoningStyle::Unsupported
    );
}

#[test]
fn gemini_xai_and_ollama_are_asked_to_think_the_way_they_know() {
    let style = |name: &str| facts(name).parameters.reasoning;
    assert_eq!(style("gemini/gemini-4-argon"), ReasoningStyle::GeminiLevel);
    assert_eq!(style("gemini/gemini-2.5-flash"), ReasoningStyle::GeminiBudget);
    assert_eq!(style("gemini/gemini-2.0-flash"), ReasoningStyle::Unsupported);
    assert_eq!(style("xai/grok-4.7"), ReasoningStyle::Effort);
    assert!(facts("xai/grok-4-0709").parameters.refused.contains(&Parameter::ReasoningEffort));
    assert!(facts("xai/grok-4.7").parameters.refused.contains(&Parameter::Stop));
    assert_eq!(style("ollama/gpt-oss:20b"), ReasoningStyle::OllamaThinkLevel);
    assert_eq!(style("ollama/qwen3:8b"), ReasoningStyle::OllamaThink);
    assert!(!facts("ollama/llama3.1:8b").capabilities.has(Capability::ForcedTools));
}

#[test]
fn known_prices_give_known_costs() {
    let usage = TokenUsage { input: 1_000_000, output: 1_000_000, ..TokenUsage::default() };
    let eur = 1_000_000_000;
    // Above 272 000 prompt tokens the whole request costs more.
    assert_eq!(cost("openai/gpt-6.1-sol", &usage, Lane::Interactive, "2026-11-29"), 19 * eur);
    let short = TokenUsage { input: 100_000, output: 100_000, ..TokenUsage::default() };
    assert_eq!(cost("openai/gpt-6.1-sol", &short, Lane::Interactive, "2026-11-29"), 12 * eur / 10);
    assert_eq!(cost("openai/gpt-6.1-sol", &short, Lane::Batch, "2026-11-29"), 6 * eur / 10);
    assert_eq!(cost("xai/grok-4.7", &short, Lane::Batch, "2026-11-29"), 64 * eur / 100);
    // xAI's step includes its bound.
    let bound = TokenUsage { input: 200_000, ..TokenUsage::default() };
    assert_eq!(cost("xai/grok-4.7", &bound, Lane::Interactive, "2026-11-29"), 8 * eur / 10);
    assert_eq!(cost("gemini/gemini-3.1-pro-preview", &bound, Lane::Interactive, "2026-11-29"), 4 * eur / 10);
    // Announced changes take effect by themselves.
    assert_eq!(cost("gemini/gemini-4-argon", &usage, Lane::Interactive, "2026-11-30"), 12 * eur);
    assert_eq!(cost("gemini/gemini-4-argon", &usage, Lane::Interactive, "2026-12-01"), 24 * eur);
    let hour = TokenUsage { cache_write_1h: 1_000_000, ..TokenUsage::default() };
    assert_eq!(cost("anthropic/claude-opus-5-5", &hour, Lane::Interactive, "2026-11-29"), 8 * eur);
}
