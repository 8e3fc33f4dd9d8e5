//! Models and aliases as tables.

use crate::commands::show;
use signalbox_api::v1;
use signalbox_types::Money;
use v1::{Capability, model::Status};

/// What is shown of a model's capabilities; text and streaming go without saying.
const SHOWN: [(Capability, &str); 6] = [
    (Capability::Tools, "tools"),
    (Capability::ImageInput, "images"),
    (Capability::JsonSchema, "schema"),
    (Capability::Reasoning, "reasoning"),
    (Capability::Embeddings, "embeddings"),
    (Capability::Batch, "batch"),
];

/// Both tables, and a word on simulation where there is some.
pub(super) fn listing(found: &v1::ListModelsResponse) -> String {
    let mut blocks = vec![models(&found.models)];
    if !found.aliases.is_empty() {
        blocks.push(aliases(&found.aliases));
    }
    if found.models.iter().any(|model| model.simulated) {
        blocks.push(
            "SIMULATED: no model sees the prompt; give the server the vendor's key for real answers."
                .to_owned(),
        );
    }
    blocks.join("\n\n")
}

fn models(models: &[v1::Model]) -> String {
    if models.is_empty() {
        return "no model fits".to_owned();
    }
    let head = ["MODEL", "TIER", "CONTEXT", "MAX OUT", "€/M IN", "€/M OUT", "CAN", "STATUS"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(models.iter().map(row));
    show::table(&rows, &[2, 3, 4, 5]).join("\n")
}

fn row(model: &v1::Model) -> Vec<String> {
    let tier = match model.tier() {
        v1::Tier::Unspecified => "-".to_owned(),
        tier => show::word(tier.as_str_name(), "TIER_"),
    };
    let price = |of: fn(&v1::Pricing) -> i64| {
        let euros = model.pricing.as_ref().map(|pricing| Money::from_nano_eur(of(pricing)).to_string());
        euros.map_or_else(|| "unknown".to_owned(), |euros| euros.replace('€', ""))
    };
    let can: Vec<&str> = SHOWN
        .into_iter()
        .filter(|(capability, _)| model.capabilities.contains(&(*capability as i32)))
        .map(|(_, name)| name)
        .collect();
    vec![
        model.name.clone(),
        tier,
        count(model.context_window),
        count(model.max_output_tokens),
        price(|pricing| pricing.input_nano_eur_per_mtok),
        price(|pricing| pricing.output_nano_eur_per_mtok),
        can.join(" "),
        status(model),
    ]
}

fn status(model: &v1::Model) -> String {
    let mut words = Vec::new();
    if model.simulated {
        words.push("SIMULATED".to_owned());
    }
    if !matches!(model.status(), Status::Active | Status::Unspecified) {
        words.push(show::word(model.status().as_str_name(), "STATUS_"));
    }
    if !model.shutdown_date.is_empty() {
        words.push(format!("shutdown {}", model.shutdown_date));
    }
    if !model.successor.is_empty() {
        words.push(format!("use {}", model.successor));
    }
    words.join(", ")
}

/// A count of tokens in thousands or millions where it is a round one.
fn count(tokens: u32) -> String {
    match tokens {
        0 => "-".to_owned(),
        tokens if tokens % 1_000_000 == 0 => format!("{}M", tokens / 1_000_000),
        tokens if tokens % 1_000 == 0 => format!("{}k", tokens / 1_000),
        tokens => tokens.to_string(),
    }
}

fn aliases(aliases: &[v1::Alias]) -> String {
    let mut rows = vec![["ALIAS", "FOR", "BY PREFERENCE"].map(str::to_owned).to_vec()];
    rows.extend(
        aliases
            .iter()
            .map(|alias| vec![alias.name.clone(), alias.description.clone(), alias.targets.join(" ")]),
    );
    show::table(&rows, &[]).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> v1::Model {
        v1::Model {
            name: "openai/gpt-6-luna".into(),
            tier: v1::Tier::Economy as i32,
            context_window: 400_000,
            max_output_tokens: 32_768,
            capabilities: vec![Capability::Text as i32, Capability::Tools as i32, Capability::Batch as i32],
            pricing: Some(v1::Pricing {
                input_nano_eur_per_mtok: 86_000_000,
                output_nano_eur_per_mtok: 430_000_000,
                ..v1::Pricing::default()
            }),
            status: Status::Active as i32,
            ..v1::Model::default()
        }
    }

    #[test]
    fn a_model_is_one_line_with_what_matters() {
        let shown = models(&[model()]);
        let cells: Vec<&str> = shown.lines().last().unwrap().split_whitespace().collect();
        let expected = ["openai/gpt-6-luna", "economy", "400k", "32768", "0.086", "0.43", "tools", "batch"];
        assert_eq!(cells, expected);
    }

    #[test]
    fn an_end_that_is_announced_and_a_price_that_is_not_known_are_told() {
        let model = v1::Model {
            status: Status::Deprecated as i32,
            shutdown_date: "2026-12-31".into(),
            successor: "openai/gpt-7".into(),
            pricing: None,
            ..model()
        };
        let shown = models(&[model]);
        assert!(shown.ends_with("deprecated, shutdown 2026-12-31, use openai/gpt-7"), "{shown}");
        assert!(shown.contains("unknown  unknown"), "{shown}");
    }

    #[test]
    fn simulation_is_said_loudly() {
        let mut found = v1::ListModelsResponse { models: vec![model()], ..Default::default() };
        assert!(!listing(&found).contains("SIMULATED"));
        found.models[0].simulated = true;
        assert_eq!(listing(&found).matches("SIMULATED").count(), 2);
    }

    #[test]
    fn aliases_show_their_order_and_no_model_is_said_so() {
        let alias = v1::Alias {
            name: "fast".into(),
            description: "quick".into(),
            targets: vec!["a/b".into(), "c/d".into()],
        };
        let found = v1::ListModelsResponse { aliases: vec![alias], ..Default::default() };
        let shown = listing(&found);
        assert!(shown.starts_with("no model fits\n\nALIAS"), "{shown}");
        assert!(shown.ends_with("fast   quick  a/b c/d"), "{shown}");
    }
}
