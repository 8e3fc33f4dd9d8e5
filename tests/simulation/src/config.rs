//! The routers' configuration for a scenario: a file, as an operator would write it.

use crate::{policies::Policy, scenario::Scenario};
use std::{fmt::Write as _, time::Duration};

/// The alias that requests ask for.
pub(crate) const ALIAS: &str = "chat";
/// The model of every vendor.
pub(crate) const MODEL: &str = "chat-1";

/// The file's text, with the prices of a moment.
pub(crate) fn text(scenario: &Scenario, policy: Policy, at: Duration) -> String {
    let routing = match policy {
        Policy::Cheap => scenario.routing.replace('}', ", preset: cheap}"),
        Policy::BestScore => scenario.routing.replace('}', ", greed: best}"),
        _ => scenario.routing.to_owned(),
    };
    let (mut vendors, mut models, mut targets) = (String::new(), String::new(), Vec::new());
    for (index, vendor) in scenario.vendors.iter().enumerate() {
        let (name, times) = (vendor.name, scenario.condition(index, at).price);
        let (input, output) = (vendor.input * times, vendor.output * times);
        // Writing to a String cannot fail.
        let _ = writeln!(vendors, "  {name}: {{kind: openai, api_key: {{env: KEY}}}}");
        let _ = writeln!(
            models,
            "  {name}/{MODEL}: {{capabilities: [text], context_window: 100000, quality: {quality}, \
             latency: {{first_token: {first}ms, between_tokens: {between}ms}}, \
             prices: [{{input: {input:.4}, output: {output:.4}}}]}}",
            quality = vendor.quality,
            first = vendor.first_token.as_millis(),
            between = vendor.per_token.as_millis(),
        );
        targets.push(format!("{name}/{MODEL}"));
    }
    format!(
        "extends: none\n\
         exchange_rate: {{usd_eur: 1, as_of: 2026-01-01}}\n\
         vendors:\n{vendors}\
         models:\n{models}\
         aliases: {{{ALIAS}: {{targets: [{targets}]}}}}\n\
         routing: {routing}\n",
        targets = targets.join(", "),
    )
}
