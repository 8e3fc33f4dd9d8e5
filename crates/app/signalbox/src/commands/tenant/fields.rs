//! What is said of a tenant.

use crate::commands::{
    CommandError,
    rates::{self, RateArgs},
    tiers::tier,
};
use signalbox_api::v1::{ScenePolicy, ScoreWeights, Tenant, Tier, tenant::FailureMode};

/// What a tenant is and may.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FieldArgs {
    /// A name for people
    #[arg(long)]
    name: Option<String>,
    /// Name of its plan, as the configuration has it
    #[arg(long)]
    plan: Option<String>,
    /// Time zone in which its days and months begin, as in `Europe/Rome`
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// Locale of requests that name none
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// Tiers it may use, as in `standard,economy`
    #[arg(long = "tiers", value_name = "TIER", value_delimiter = ',', value_parser = tier)]
    tiers: Vec<Tier>,
    /// Models it may use, as `vendor/model`, `vendor/*` or an alias; may be given several times
    #[arg(long = "allow", value_name = "MODEL")]
    models: Vec<String>,
    /// Labels that a vendor must all carry to see its prompts; may be given several times
    #[arg(long = "require-label", value_name = "LABEL")]
    labels: Vec<String>,
    /// Weights of a task type's scores, as in `bulk: cost=3,quality=1`; without a name for all others
    #[arg(long = "weights", value_name = "TASK: FACTOR=N,…", value_parser = weights)]
    weights: Vec<(String, ScoreWeights)>,
    /// `max_output_tokens` of requests that set none
    #[arg(long, value_name = "N")]
    max_output_tokens: Option<i32>,
    /// Refuse models whose price is not known
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    require_known_cost: Option<bool>,
    /// What to do when limits cannot be checked: `closed` refuses, `open` goes on (hard budgets stay closed)
    #[arg(long, value_name = "MODE", value_parser = failure_mode)]
    failure_mode: Option<FailureMode>,
    #[command(flatten)]
    rate: RateArgs,
    /// A scene with a priority or limits of its own, as in `search: priority=1,requests=60`; replaces all of them
    #[arg(long = "scene", value_name = "NAME: RULE=N,…", value_parser = rates::scene)]
    scenes: Vec<ScenePolicy>,
}

impl FieldArgs {
    /// Writes what was said to a tenant, and returns the names of those fields.
    pub(super) fn write(self, tenant: &mut Tenant) -> Vec<String> {
        let mut written = Vec::new();
        let mut note = |said: bool, field: &str| {
            if said {
                written.push(field.to_owned());
            }
            said
        };
        set(&mut tenant.display_name, self.name, "display_name", &mut note);
        set(&mut tenant.plan, self.plan, "plan", &mut note);
        set(&mut tenant.time_zone, self.time_zone, "time_zone", &mut note);
        set(&mut tenant.locale, self.locale, "locale", &mut note);
        set(
            &mut tenant.default_max_output_tokens,
            self.max_output_tokens,
            "default_max_output_tokens",
            &mut note,
        );
        set(&mut tenant.require_known_cost, self.require_known_cost, "require_known_cost", &mut note);
        set(&mut tenant.failure_mode, self.failure_mode.map(Into::into), "failure_mode", &mut note);
        let tiers: Vec<i32> = self.tiers.into_iter().map(Into::into).collect();
        set(&mut tenant.allowed_tiers, some(tiers), "allowed_tiers", &mut note);
        set(&mut tenant.allowed_models, some(self.models), "allowed_models", &mut note);
        set(&mut tenant.required_vendor_labels, some(self.labels), "required_vendor_labels", &mut note);
        set(&mut tenant.scenes, some(self.scenes), "scenes", &mut note);
        if note(!self.weights.is_empty(), "weights") {
            tenant.weights.extend(self.weights);
        }
        if note(self.rate.is_said(), "rate_limit") {
            tenant.rate_limit = Some(self.rate.over(tenant.rate_limit.unwrap_or_default()));
        }
        written
    }
}

fn set<T>(field: &mut T, said: Option<T>, name: &str, note: &mut impl FnMut(bool, &str) -> bool) {
    note(said.is_some(), name);
    if let Some(said) = said {
        *field = said;
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

fn failure_mode(name: &str) -> Result<FailureMode, String> {
    match name {
        "closed" => Ok(FailureMode::Closed),
        "open" => Ok(FailureMode::Open),
        _ => Err("there are closed and open".to_owned()),
    }
}

/// Weights of the scores of a task type, of all others where it has no name.
fn weights(text: &str) -> Result<(String, ScoreWeights), String> {
    let problem = || format!("`{text}` are no weights, as in `bulk: cost=3,quality=1`");
    let (task, factors) = text.split_once(':').ok_or_else(problem)?;
    let mut weights = ScoreWeights::default();
    for factor in factors.split(',') {
        let (name, weight) = factor.split_once('=').ok_or_else(problem)?;
        weights.factors.insert(name.trim().to_owned(), weight.trim().parse().map_err(|_| problem())?);
    }
    Ok((task.trim().to_owned(), weights))
}

/// Takes a field back to its default.
pub(super) fn clear(tenant: &mut Tenant, field: &str) -> Result<(), CommandError> {
    match field {
        "display_name" => tenant.display_name.clear(),
        "plan" => tenant.plan.clear(),
        "time_zone" => tenant.time_zone.clear(),
        "locale" => tenant.locale.clear(),
        "allowed_tiers" => tenant.allowed_tiers.clear(),
        "allowed_models" => tenant.allowed_models.clear(),
        "required_vendor_labels" => tenant.required_vendor_labels.clear(),
        "weights" => tenant.weights.clear(),
        "default_max_output_tokens" => tenant.default_max_output_tokens = 0,
        "require_known_cost" => tenant.require_known_cost = false,
        "failure_mode" => tenant.failure_mode = FailureMode::Unspecified.into(),
        "rate_limit" => tenant.rate_limit = None,
        "scenes" => tenant.scenes.clear(),
        other => {
            return Err(CommandError::new(format!(
                "--clear: a tenant has no `{other}`; there are display_name, plan, time_zone, locale, allowed_tiers, \
                 allowed_models, required_vendor_labels, weights, default_max_output_tokens, require_known_cost, \
                 failure_mode, rate_limit and scenes"
            )));
        }
    }
    Ok(())
}
