//! The combinations of dimensions that have occurred, each with a number.

use signalbox_api::v1::{Lane, UsageDimension, UsageEvent, UsageFilter, cache_effect, usage_event};
use signalbox_ports::usage_facts::group_value;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};
use std::collections::HashMap;

/// Dimensions that make a series, with their columns. The reference is not one: there are as many as articles.
pub(super) const DIMENSIONS: [(UsageDimension, &str); 13] = [
    (UsageDimension::Tenant, "tenant"),
    (UsageDimension::Key, "key"),
    (UsageDimension::Scene, "scene"),
    (UsageDimension::TaskType, "task_type"),
    (UsageDimension::Locale, "locale"),
    (UsageDimension::Vendor, "vendor"),
    (UsageDimension::Model, "model"),
    (UsageDimension::Lane, "lane"),
    (UsageDimension::Operation, "operation"),
    (UsageDimension::Outcome, "outcome"),
    (UsageDimension::CacheOutcome, "cache_outcome"),
    (UsageDimension::ErrorReason, "error_reason"),
    (UsageDimension::Simulated, "simulated"),
];

/// Numbers remembered at most; the memory begins anew beyond.
const MOST: usize = 200_000;

/// The values of an event's dimensions.
pub(super) type Key = [String; DIMENSIONS.len()];

/// The numbers of series that were met.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Key, i64>);

pub(super) fn key(event: &UsageEvent) -> Key {
    DIMENSIONS.map(|(dimension, _)| group_value(event, dimension))
}

impl Known {
    /// The numbers of series, in their order; new ones are given one.
    pub(super) async fn numbers(
        &self,
        connection: &mut SqliteConnection,
        keys: &[Key],
    ) -> sqlx::Result<Vec<i64>> {
        let mut new: HashMap<&Key, i64> = HashMap::new();
        let mut numbers = Vec::with_capacity(keys.len());
        for key in keys {
            let number = match self.0.get(key).or_else(|| new.get(key)) {
                Some(number) => *number,
                None => number_of(connection, key).await?,
            };
            if !self.0.contains_key(key) {
                new.insert(key, number);
            }
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// Remembers numbers that were given for good, for none is ever taken back.
    pub(super) fn remember(&mut self, keys: Vec<Key>, numbers: &[i64]) {
        if self.0.len() > MOST {
            self.0.clear();
        }
        self.0.extend(keys.into_iter().zip(numbers.iter().copied()));
    }
}

async fn number_of(connection: &mut SqliteConnection, key: &Key) -> sqlx::Result<i64> {
    let columns = DIMENSIONS.map(|(_, column)| column).join(", ");
    let values = ["?"; DIMENSIONS.len()].join(", ");
    // An update that changes nothing, for a row that is there already to be returned, too.
    let sql = format!(
        "INSERT INTO usage_series ({columns}) VALUES ({values}) \
         ON CONFLICT ({columns}) DO UPDATE SET tenant = tenant RETURNING id"
    );
    let insert = sqlx::query(AssertSqlSafe(sql));
    key.iter().fold(insert, |insert, value| insert.bind(value)).fetch_one(connection).await?.try_get(0)
}

/// The values that a filter wants of each column, where it wants some.
pub(super) fn wanted(filter: &UsageFilter) -> Vec<(&'static str, Vec<String>)> {
    let lane = |number| Lane::try_from(number).ok().map(|lane| lane.as_str_name());
    let outcome = |number| usage_event::Outcome::try_from(number).ok().map(|outcome| outcome.as_str_name());
    let cache = |number| cache_effect::Outcome::try_from(number).ok().map(|outcome| outcome.as_str_name());
    let simulated = filter.simulated.map(|simulated| vec![simulated.to_string()]);
    let all = [
        ("tenant", filter.tenant_ids.clone()),
        ("key", filter.key_ids.clone()),
        ("scene", filter.scenes.clone()),
        ("task_type", filter.task_types.clone()),
        ("locale", filter.locales.clone()),
        ("vendor", filter.vendors.clone()),
        ("model", filter.models.clone()),
        ("lane", names(&filter.lanes, lane)),
        ("outcome", names(&filter.outcomes, outcome)),
        ("cache_outcome", names(&filter.cache_outcomes, cache)),
        ("error_reason", filter.error_reasons.clone()),
        ("simulated", simulated.unwrap_or_default()),
    ];
    all.into_iter().filter(|(_, values)| !values.is_empty()).collect()
}

/// A number without a name wants what nothing has.
fn names(numbers: &[i32], name: impl Fn(i32) -> Option<&'static str>) -> Vec<String> {
    numbers.iter().map(|number| name(*number).unwrap_or("?").to_owned()).collect()
}
