//! `signalbox reconcile`: whether the ledger of budgets and the usage store say the same.

use super::{CommandError, connect::ServerArgs, euros::shown, failures, print, show, when::WhenArgs};
use jiff::Timestamp;
use signalbox_api::{json, v1};
use v1::reconcile_ledger_response::Difference;

const HELP: &str = "\
No difference is the normal case. Requests that ended in the last minute may still be on their way to one of the two.
Fails where there is a difference.";

/// Differences on a page.
const PAGE: i32 = 1000;

/// What to compare.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct ReconcileArgs {
    /// Whose; all tenants where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
    /// Most differences to print
    #[arg(long, default_value_t = 1000)]
    limit: usize,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    when: WhenArgs,
    #[command(flatten)]
    server: ServerArgs,
}

/// Compares and prints the differences.
pub(crate) async fn run(args: ReconcileArgs) -> Result<(), CommandError> {
    let (start, end) = args.when.window(Timestamp::now());
    let mut client = args.server.budget().await?;
    let mut request = v1::ReconcileLedgerRequest {
        tenant_id: args.tenant,
        start_time: Some(start),
        end_time: end,
        page_size: PAGE,
        page_token: String::new(),
    };
    let mut found = v1::ReconcileLedgerResponse::default();
    loop {
        let answer = client.reconcile_ledger(request.clone()).await;
        let page = answer.map_err(|status| failures::from_call(&status))?.into_inner();
        found.differences.extend(page.differences);
        found.ledger_nano_eur = found.ledger_nano_eur.saturating_add(page.ledger_nano_eur);
        found.usage_nano_eur = found.usage_nano_eur.saturating_add(page.usage_nano_eur);
        found.requests = found.requests.saturating_add(page.requests);
        if page.next_page_token.is_empty() || found.differences.len() >= args.limit {
            break;
        }
        request.page_token = page.next_page_token;
    }
    found.differences.truncate(args.limit);
    print(&if args.json { json::to_json(&found)? } else { report(&found) })?;
    match found.differences.len() {
        0 => Ok(()),
        count => Err(CommandError::new(format!("ledger and usage store differ on {count} requests"))),
    }
}

fn report(found: &v1::ReconcileLedgerResponse) -> String {
    let sums = format!(
        "{} requests compared: the ledger has {}, the usage store {}",
        found.requests,
        shown(found.ledger_nano_eur),
        shown(found.usage_nano_eur)
    );
    if found.differences.is_empty() {
        return format!("no difference\n{sums}");
    }
    let mut rows = vec![["TENANT", "REQUEST", "BUDGET", "LEDGER", "USAGE"].map(str::to_owned).to_vec()];
    rows.extend(found.differences.iter().map(line));
    let mut lines = show::table(&rows, &[3, 4]);
    lines.push(sums);
    lines.join("\n")
}

fn line(difference: &Difference) -> Vec<String> {
    let amount = |amount: Option<i64>| amount.map_or_else(|| "unknown".to_owned(), shown);
    vec![
        difference.tenant_id.clone(),
        difference.request_id.clone(),
        difference.budget_id.clone(),
        amount(difference.ledger_nano_eur),
        amount(difference.usage_nano_eur),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_with_what_each_side_says() {
        let none = v1::ReconcileLedgerResponse {
            ledger_nano_eur: 1_000_000_000,
            usage_nano_eur: 1_000_000_000,
            requests: 12,
            ..v1::ReconcileLedgerResponse::default()
        };
        assert_eq!(
            report(&none),
            "no difference\n12 requests compared: the ledger has €1.00, the usage store €1.00"
        );
        let difference = Difference {
            tenant_id: "acme".into(),
            request_id: "r-1".into(),
            budget_id: "team".into(),
            ledger_nano_eur: Some(500_000_000),
            usage_nano_eur: None,
        };
        let expected = "\
TENANT  REQUEST  BUDGET  LEDGER    USAGE
acme    r-1      team     €0.50  unknown
12 requests compared: the ledger has €1.00, the usage store €1.00";
        assert_eq!(report(&v1::ReconcileLedgerResponse { differences: vec![difference], ..none }), expected);
    }
}
