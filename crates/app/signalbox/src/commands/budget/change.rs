//! Commands that change a budget.

use super::{Client, WhichArgs, failed, get, threshold::threshold};
use crate::commands::{CommandError, euros::euros, print_aside};
use signalbox_api::v1::{
    self, Budget,
    budget::{Enforcement, Period, Threshold},
};
use uuid::Uuid;

/// What the budget is to be.
#[derive(Debug, clap::Args)]
pub(super) struct CreateArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// How much a period, in euros; for a prepaid budget, how much at the start
    #[arg(long, value_name = "EUR", value_parser = euros, allow_negative_numbers = true)]
    limit: i64,
    /// When it starts anew: daily, monthly (by the tenant's calendar) or prepaid (never)
    #[arg(long, value_name = "PERIOD", value_parser = period, default_value = "monthly")]
    period: Period,
    /// Beyond the limit, serve the cheapest model that will do, in place of nothing
    #[arg(long)]
    soft: bool,
    /// Only requests with this API key, by its id
    #[arg(long, value_name = "ID", default_value = "", conflicts_with = "scene")]
    key: String,
    /// Only requests of this scene
    #[arg(long, value_name = "NAME", default_value = "")]
    scene: String,
    /// What happens on the way to the limit, as in `90% before 50%: tier economy`; may be given several times
    #[arg(long = "at", value_name = "THRESHOLD", value_parser = threshold)]
    thresholds: Vec<Threshold>,
}

/// What changes.
#[derive(Debug, clap::Args)]
pub(super) struct SetArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// How much a period, in euros
    #[arg(long, value_name = "EUR", value_parser = euros, allow_negative_numbers = true)]
    limit: Option<i64>,
    /// Never exceed the limit
    #[arg(long, conflicts_with = "soft")]
    hard: bool,
    /// Beyond the limit, serve the cheapest model that will do
    #[arg(long)]
    soft: bool,
    /// What happens on the way to the limit; replaces all that did, and may be given several times
    #[arg(long = "at", value_name = "THRESHOLD", value_parser = threshold, conflicts_with = "no_thresholds")]
    thresholds: Vec<Threshold>,
    /// Nothing happens on the way to the limit
    #[arg(long)]
    no_thresholds: bool,
}

/// How much is added.
#[derive(Debug, clap::Args)]
pub(super) struct TopUpArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// How much, in euros
    #[arg(value_name = "EUR", value_parser = euros, allow_negative_numbers = true)]
    amount: i64,
    /// Your id of this payment: the same id again adds nothing. Made up where left out
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Why, for the ledger
    #[arg(long, default_value = "")]
    reason: String,
}

/// The other limit.
#[derive(Debug, clap::Args)]
pub(super) struct OverrideArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// The limit of the running period, in euros
    #[arg(long, value_name = "EUR", value_parser = euros, allow_negative_numbers = true)]
    limit: i64,
    /// Why, for the ledger
    #[arg(long)]
    reason: String,
}

fn period(name: &str) -> Result<Period, String> {
    Period::from_str_name(&format!("PERIOD_{}", name.to_uppercase()))
        .filter(|period| *period != Period::Unspecified)
        .ok_or_else(|| "there are daily, monthly and prepaid".to_owned())
}

fn enforcement(soft: bool) -> Enforcement {
    if soft { Enforcement::Soft } else { Enforcement::Hard }
}

impl CreateArgs {
    /// The budget.
    pub(super) fn budget(self) -> Budget {
        Budget {
            tenant_id: self.which.tenant,
            budget_id: self.which.budget_id,
            key_id: self.key,
            scene: self.scene,
            period: self.period.into(),
            limit_nano_eur: self.limit,
            enforcement: enforcement(self.soft).into(),
            thresholds: self.thresholds,
            ..Budget::default()
        }
    }
}

impl SetArgs {
    /// Writes what was said to a budget, and returns the names of those fields.
    pub(super) fn write(self, budget: &mut Budget) -> Vec<String> {
        let mut written = Vec::new();
        if let Some(limit) = self.limit {
            budget.limit_nano_eur = limit;
            written.push("limit_nano_eur".to_owned());
        }
        if self.hard || self.soft {
            budget.enforcement = enforcement(self.soft).into();
            written.push("enforcement".to_owned());
        }
        if self.no_thresholds || !self.thresholds.is_empty() {
            budget.thresholds = self.thresholds;
            written.push("thresholds".to_owned());
        }
        written
    }
}

pub(super) async fn create(client: &mut Client, args: CreateArgs) -> Result<Budget, CommandError> {
    let request = v1::CreateBudgetRequest { budget: Some(args.budget()) };
    let answer = client.create_budget(request).await.map_err(failed)?;
    Ok(answer.into_inner().budget.unwrap_or_default())
}

/// Reads, changes and writes back: if another changed it meanwhile, the server refuses.
pub(super) async fn set(client: &mut Client, args: SetArgs) -> Result<Budget, CommandError> {
    let mut budget = get(client, args.which.clone()).await?;
    let paths = args.write(&mut budget);
    if paths.is_empty() {
        return Err(CommandError::new("nothing to change: name what is to be different, see --help"));
    }
    let update_mask = Some(prost_types::FieldMask { paths });
    let request = v1::UpdateBudgetRequest { budget: Some(budget), update_mask };
    let answer = client.update_budget(request).await.map_err(failed)?;
    Ok(answer.into_inner().budget.unwrap_or_default())
}

/// The id is told: whoever does not know whether it was done can do it again with the same.
pub(super) async fn top_up(client: &mut Client, args: TopUpArgs) -> Result<Budget, CommandError> {
    let top_up_id = args.id.unwrap_or_else(|| Uuid::now_v7().to_string());
    if args.amount > 0 {
        print_aside(&format!("top-up {top_up_id}: doing it again with --id {top_up_id} adds nothing"))?;
    }
    let request = v1::TopUpBudgetRequest {
        tenant_id: args.which.tenant,
        budget_id: args.which.budget_id,
        top_up_id,
        amount_nano_eur: args.amount,
        reason: args.reason,
    };
    let answer = client.top_up_budget(request).await.map_err(failed)?;
    Ok(answer.into_inner().budget.unwrap_or_default())
}

pub(super) async fn override_limit(client: &mut Client, args: OverrideArgs) -> Result<Budget, CommandError> {
    let request = v1::OverrideBudgetRequest {
        tenant_id: args.which.tenant,
        budget_id: args.which.budget_id,
        limit_nano_eur: args.limit,
        reason: args.reason,
    };
    let answer = client.override_budget(request).await.map_err(failed)?;
    Ok(answer.into_inner().budget.unwrap_or_default())
}
