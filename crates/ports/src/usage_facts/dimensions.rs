//! What events are grouped and filtered by.

use signalbox_api::v1::{CacheEffect, UsageDimension, UsageEvent, UsageFilter, cache_effect::Outcome};

/// The value of a dimension, as `UsageRow.group` has it: enums by their name, `simulated` as `true` or `false`.
pub fn group_value(event: &UsageEvent, dimension: UsageDimension) -> String {
    match dimension {
        UsageDimension::Unspecified => String::new(),
        UsageDimension::Tenant => event.tenant_id.clone(),
        UsageDimension::Key => event.key_id.clone(),
        UsageDimension::Scene => event.scene.clone(),
        UsageDimension::TaskType => event.task_type.clone(),
        UsageDimension::Locale => event.locale.clone(),
        UsageDimension::Reference => event.reference.clone(),
        UsageDimension::Vendor => event.vendor.clone(),
        UsageDimension::Model => event.model.clone(),
        UsageDimension::Lane => event.lane().as_str_name().to_owned(),
        UsageDimension::Operation => event.operation().as_str_name().to_owned(),
        UsageDimension::Outcome => event.outcome().as_str_name().to_owned(),
        UsageDimension::CacheOutcome => cache_outcome(event).as_str_name().to_owned(),
        UsageDimension::ErrorReason => event.error_reason.clone(),
        UsageDimension::Simulated => event.simulated.to_string(),
    }
}

/// Whether a filter lets an event through.
pub fn matches(event: &UsageEvent, filter: &UsageFilter) -> bool {
    let texts = [
        (&filter.tenant_ids, &event.tenant_id),
        (&filter.key_ids, &event.key_id),
        (&filter.scenes, &event.scene),
        (&filter.task_types, &event.task_type),
        (&filter.locales, &event.locale),
        (&filter.references, &event.reference),
        (&filter.vendors, &event.vendor),
        (&filter.models, &event.model),
        (&filter.error_reasons, &event.error_reason),
    ];
    let numbers = [
        (&filter.lanes, event.lane),
        (&filter.outcomes, event.outcome),
        (&filter.cache_outcomes, cache_outcome(event) as i32),
    ];
    texts.iter().all(|(wanted, value)| wanted.is_empty() || wanted.contains(value))
        && numbers.iter().all(|(wanted, value)| wanted.is_empty() || wanted.contains(value))
        && filter.simulated.is_none_or(|wanted| wanted == event.simulated)
}

/// What the cache did; unspecified where nothing is said.
fn cache_outcome(event: &UsageEvent) -> Outcome {
    event.cache.as_ref().map_or(Outcome::Unspecified, CacheEffect::outcome)
}
