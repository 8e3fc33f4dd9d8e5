//! `signalbox budget`: what tenants may spend, and what they spent.

mod change;
mod report;
mod threshold;
mod trail;

use super::{
    CommandError,
    connect::{ServerArgs, Way},
    failures, pages, print,
};
use signalbox_api::{json, v1};
use tonic::Status;
use v1::budget_service_client::BudgetServiceClient;

const HELP: &str = "\
Amounts are euros, exact to nine decimals. A threshold is written `90%: tier economy`, or `90% before 50%: tier economy`
for one that holds only while less than half of the period has passed. It can notify, limit the tier (tier premium, tier
standard, tier economy), leave only cached answers and the batch lane (cache-or-batch), only models that cost nothing
(free-only), or nothing (refuse).";

/// What to do with budgets.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct BudgetArgs {
    #[command(subcommand)]
    action: Action,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a budget
    Create(change::CreateArgs),
    /// List a tenant's budgets and where they stand
    List(ListArgs),
    /// One budget and where it stands
    Show(WhichArgs),
    /// Change a budget for now and later: what is not named stays
    Set(change::SetArgs),
    /// Add money to a prepaid budget, or to the running period of another
    TopUp(change::TopUpArgs),
    /// Set another limit for the running period only, even below what is spent
    Override(change::OverrideArgs),
    /// When a budget will be used up at this rate
    Forecast(WhichArgs),
    /// What moved the money of a tenant's budgets, newest first
    Ledger(trail::LedgerArgs),
    /// Who changed which tenant, key or budget, newest first
    Audit(trail::AuditArgs),
}

/// Which budget.
#[derive(Debug, Clone, clap::Args)]
struct WhichArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// The budget's id
    budget_id: String,
}

/// Whose budgets.
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
}

type Client = BudgetServiceClient<Way>;

fn failed(status: Status) -> CommandError {
    failures::from_call(&status)
}

/// Does what was asked.
pub(crate) async fn run(args: BudgetArgs) -> Result<(), CommandError> {
    let mut client = args.server.budget().await?;
    let budget = match args.action {
        Action::List(whose) => return list(&mut client, whose, args.json).await,
        Action::Forecast(which) => return forecast(&mut client, which, args.json).await,
        Action::Ledger(ledger) => return trail::ledger(&mut client, ledger, args.json).await,
        Action::Audit(audit) => return trail::audit(&mut client, audit, args.json).await,
        Action::Show(which) => get(&mut client, which).await?,
        Action::Create(create) => change::create(&mut client, create).await?,
        Action::Set(set) => change::set(&mut client, set).await?,
        Action::TopUp(top_up) => change::top_up(&mut client, top_up).await?,
        Action::Override(other) => change::override_limit(&mut client, other).await?,
    };
    print(&if args.json { json::to_json(&budget)? } else { report::one(&budget) })
}

async fn get(client: &mut Client, which: WhichArgs) -> Result<v1::Budget, CommandError> {
    let request = v1::GetBudgetRequest { tenant_id: which.tenant, budget_id: which.budget_id };
    let answer = client.get_budget(request).await.map_err(failed)?;
    Ok(answer.into_inner().budget.unwrap_or_default())
}

async fn list(client: &mut Client, args: ListArgs, as_json: bool) -> Result<(), CommandError> {
    let budgets = pages::all(async |page_size, page_token| {
        let request = v1::ListBudgetsRequest { tenant_id: args.tenant.clone(), page_size, page_token };
        let page = client.list_budgets(request).await.map_err(failed)?.into_inner();
        Ok((page.budgets, page.next_page_token))
    });
    let found = v1::ListBudgetsResponse { budgets: budgets.await?, next_page_token: String::new() };
    print(&if as_json { json::to_json(&found)? } else { report::all(&found.budgets) })
}

async fn forecast(client: &mut Client, which: WhichArgs, as_json: bool) -> Result<(), CommandError> {
    let request = v1::ForecastBudgetRequest { tenant_id: which.tenant, budget_id: which.budget_id };
    let answer = client.forecast_budget(request).await.map_err(failed)?.into_inner();
    print(&if as_json { json::to_json(&answer)? } else { report::forecast(&answer) })
}

#[cfg(test)]
mod tests;
