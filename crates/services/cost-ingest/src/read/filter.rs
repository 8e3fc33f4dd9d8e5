//! Filters in requests.

use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{Lane, UsageFilter, cache_effect, usage_event},
};

/// Alternatives of one field.
const MOST: usize = 1_000;
/// Bytes of one.
const LONGEST: usize = 1_024;

pub(crate) fn check(filter: &UsageFilter, violations: &mut Violations) {
    for (name, values) in [
        ("tenant_ids", &filter.tenant_ids),
        ("key_ids", &filter.key_ids),
        ("scenes", &filter.scenes),
        ("task_types", &filter.task_types),
        ("locales", &filter.locales),
        ("references", &filter.references),
        ("vendors", &filter.vendors),
        ("models", &filter.models),
        ("error_reasons", &filter.error_reasons),
    ] {
        count(values.len(), name, violations);
        let long = values.iter().position(|value| value.len() > LONGEST);
        if let Some(index) = long {
            violations.add(format!("filter.{name}[{index}]"), format!("has more than {LONGEST} bytes"));
        }
    }
    numbers::<Lane>(&filter.lanes, "lanes", violations);
    numbers::<usage_event::Outcome>(&filter.outcomes, "outcomes", violations);
    numbers::<cache_effect::Outcome>(&filter.cache_outcomes, "cache_outcomes", violations);
}

fn numbers<E: TryFrom<i32> + Default>(values: &[i32], name: &str, violations: &mut Violations) {
    count(values.len(), name, violations);
    for (index, value) in values.iter().enumerate().take(MOST) {
        known_enum::<E>(*value, &format!("filter.{name}[{index}]"), violations);
    }
}

fn count(count: usize, name: &str, violations: &mut Violations) {
    violations.at_most(count, MOST, "values", || format!("filter.{name}"));
}
