//! Which requests to look at.

use signalbox_api::v1;
use v1::usage_event::Outcome;

/// Which requests; several values of an option are alternatives.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Who pays
    #[arg(long = "tenant", value_name = "ID")]
    tenants: Vec<String>,
    /// API key, by its id
    #[arg(long = "key", value_name = "ID")]
    keys: Vec<String>,
    /// Part of the application
    #[arg(long = "scene", value_name = "NAME")]
    scenes: Vec<String>,
    /// Kind of work
    #[arg(long = "task-type", value_name = "NAME")]
    task_types: Vec<String>,
    /// Language
    #[arg(long = "locale", value_name = "TAG")]
    locales: Vec<String>,
    /// Article or job
    #[arg(long = "reference", value_name = "ID")]
    references: Vec<String>,
    /// Vendor entry that served
    #[arg(long = "vendor", value_name = "NAME")]
    vendors: Vec<String>,
    /// Model that served
    #[arg(long = "model", value_name = "ID")]
    models: Vec<String>,
    /// How it ended: succeeded, failed or cancelled
    #[arg(long = "outcome", value_name = "OUTCOME", value_parser = outcome)]
    outcomes: Vec<Outcome>,
    /// Why it failed, as in VENDOR_TIMEOUT
    #[arg(long = "error-reason", value_name = "REASON")]
    error_reasons: Vec<String>,
    /// Only simulated answers, or with `false` only real ones
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    simulated: Option<bool>,
}

impl FilterArgs {
    /// As the contract has it.
    pub(super) fn filter(self) -> v1::UsageFilter {
        v1::UsageFilter {
            tenant_ids: self.tenants,
            key_ids: self.keys,
            scenes: self.scenes,
            task_types: self.task_types,
            locales: self.locales,
            references: self.references,
            vendors: self.vendors,
            models: self.models,
            outcomes: self.outcomes.into_iter().map(|outcome| outcome as i32).collect(),
            error_reasons: self.error_reasons,
            simulated: self.simulated,
            ..v1::UsageFilter::default()
        }
    }
}

fn outcome(text: &str) -> Result<Outcome, String> {
    Outcome::from_str_name(&format!("OUTCOME_{}", text.to_uppercase()))
        .filter(|outcome| *outcome != Outcome::Unspecified)
        .ok_or_else(|| "there are succeeded, failed and cancelled".to_owned())
}
