//! Sums over the attempts of an account.

use signalbox_api::v1::{Cost, TokenUsage, UsageAttempt, token_usage::Source};

/// Nothing used, and that is known.
pub fn nothing() -> TokenUsage {
    TokenUsage { source: Source::Vendor.into(), ..Default::default() }
}

/// What attempts used and cost together.
pub fn total(attempts: &[UsageAttempt]) -> (TokenUsage, Cost) {
    let (mut usage, mut cost) = (nothing(), Cost::default());
    for attempt in attempts.iter().filter_map(|attempt| attempt.attempt.as_ref()) {
        add_usage(&mut usage, &attempt.usage.unwrap_or_default());
        if let Some(its) = &attempt.cost {
            add_cost(&mut cost, its);
        }
    }
    (usage, cost)
}

/// Adds what one attempt used and cost to another.
pub fn add_attempt(to: &mut UsageAttempt, more: &UsageAttempt) {
    let (Some(to), Some(more)) = (&mut to.attempt, &more.attempt) else { return };
    let mut usage = to.usage.unwrap_or_else(nothing);
    add_usage(&mut usage, &more.usage.unwrap_or_default());
    to.usage = Some(usage);
    if let Some(cost) = &more.cost {
        add_cost(to.cost.get_or_insert_default(), cost);
    }
}

fn add_usage(total: &mut TokenUsage, usage: &TokenUsage) {
    let add = |to: &mut u64, tokens: u64| *to = to.saturating_add(tokens);
    add(&mut total.input_tokens, usage.input_tokens);
    add(&mut total.cache_read_tokens, usage.cache_read_tokens);
    add(&mut total.cache_write_tokens, usage.cache_write_tokens);
    add(&mut total.cache_write_1h_tokens, usage.cache_write_1h_tokens);
    add(&mut total.output_tokens, usage.output_tokens);
    add(&mut total.reasoning_tokens, usage.reasoning_tokens);
    total.set_source(least_certain(total.source(), usage.source()));
}

fn least_certain(one: Source, other: Source) -> Source {
    let certainty = |source| match source {
        Source::Unspecified => 0,
        Source::Estimated => 1,
        Source::Vendor => 2,
    };
    if certainty(one) <= certainty(other) { one } else { other }
}

fn add_cost(total: &mut Cost, cost: &Cost) {
    total.nano_eur = total.nano_eur.saturating_add(cost.nano_eur);
    total.unknown |= cost.unknown;
    if !cost.price_version.is_empty() {
        total.price_version.clone_from(&cost.price_version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_the_least_certain_source_is_told() {
        let mut total = nothing();
        let vendors = TokenUsage { input_tokens: 5, reasoning_tokens: 2, ..nothing() };
        add_usage(&mut total, &vendors);
        assert_eq!(total, vendors);
        let mut guess = TokenUsage { input_tokens: 1, output_tokens: 4, ..TokenUsage::default() };
        guess.set_source(Source::Estimated);
        add_usage(&mut total, &guess);
        assert_eq!(
            (total.input_tokens, total.output_tokens, total.reasoning_tokens, total.source()),
            (6, 4, 2, Source::Estimated)
        );
        add_usage(&mut total, &TokenUsage::default());
        assert_eq!(total.source(), Source::Unspecified);
    }

    #[test]
    fn an_unknown_cost_makes_the_sum_unknown_and_is_not_taken_for_nothing() {
        let mut total = Cost::default();
        add_cost(&mut total, &Cost { nano_eur: 5, unknown: false, price_version: "one".to_owned() });
        add_cost(&mut total, &Cost { nano_eur: 0, unknown: true, price_version: String::new() });
        assert_eq!(total, Cost { nano_eur: 5, unknown: true, price_version: "one".to_owned() });
    }
}
