//! Conditions on the columns that all tables share. Values are always bound, names are always ours.

use clickhouse::query::Query;
use signalbox_api::v1::{Lane, UsageDimension, UsageFilter, cache_effect, usage_event};

/// The column of a dimension.
pub(crate) fn column(dimension: UsageDimension) -> Option<&'static str> {
    Some(match dimension {
        UsageDimension::Unspecified => return None,
        UsageDimension::Tenant => "tenant_id",
        UsageDimension::Key => "key_id",
        UsageDimension::Scene => "scene",
        UsageDimension::TaskType => "task_type",
        UsageDimension::Locale => "locale",
        UsageDimension::Reference => "reference",
        UsageDimension::Vendor => "vendor",
        UsageDimension::Model => "model",
        UsageDimension::Lane => "lane",
        UsageDimension::Operation => "operation",
        UsageDimension::Outcome => "outcome",
        UsageDimension::CacheOutcome => "cache_outcome",
        UsageDimension::ErrorReason => "error_reason",
        UsageDimension::Simulated => "simulated",
    })
}

/// What must hold, and what is bound for it.
#[derive(Debug)]
pub(crate) struct Conditions {
    alternatives: Vec<(&'static str, Vec<String>)>,
    simulated: Option<bool>,
}

impl Conditions {
    pub(crate) fn of(filter: &UsageFilter) -> Self {
        let texts = [
            ("tenant_id", &filter.tenant_ids),
            ("key_id", &filter.key_ids),
            ("scene", &filter.scenes),
            ("task_type", &filter.task_types),
            ("locale", &filter.locales),
            ("reference", &filter.references),
            ("vendor", &filter.vendors),
            ("model", &filter.models),
            ("error_reason", &filter.error_reasons),
        ];
        let texts = texts.into_iter().map(|(column, values)| (column, values.clone()));
        let enums = [
            ("lane", names(filter.lanes(), |it: Lane| it.as_str_name())),
            ("outcome", names(filter.outcomes(), |it: usage_event::Outcome| it.as_str_name())),
            ("cache_outcome", names(filter.cache_outcomes(), |it: cache_effect::Outcome| it.as_str_name())),
        ];
        let alternatives = texts.chain(enums).filter(|(_, values)| !values.is_empty()).collect();
        Self { alternatives, simulated: filter.simulated }
    }

    /// Whether they are about tenants only, if about anything.
    pub(crate) fn are_of_tenants(&self) -> bool {
        self.simulated.is_none() && self.alternatives.iter().all(|(column, _)| *column == "tenant_id")
    }

    /// As SQL, each with an `AND` before it.
    pub(crate) fn sql(&self) -> String {
        let mut sql = String::new();
        for (column, _) in &self.alternatives {
            sql.push_str(&format!(" AND {column} IN {{{column}:Array(String)}}"));
        }
        if self.simulated.is_some() {
            sql.push_str(" AND simulated = {simulated:Bool}");
        }
        sql
    }

    /// Binds what [`sql`](Self::sql) names.
    pub(crate) fn bind(&self, query: Query) -> Query {
        let query =
            self.alternatives.iter().fold(query, |query, (column, values)| query.param(column, values));
        match self.simulated {
            Some(simulated) => query.param("simulated", simulated),
            None => query,
        }
    }
}

fn names<T>(values: impl Iterator<Item = T>, name: impl Fn(T) -> &'static str) -> Vec<String> {
    values.map(|value| name(value).to_owned()).collect()
}
