//! `signalbox reconcile`: whether the ledger of budgets and the usage store say the same.

use super::{CommandError, connect::ServerArgs, euros::shown, failures, pages, print, show, when::WhenArgs};
use jiff::Timestamp;
use signalbox_api::{json, v1};
use std::{collections::BTreeSet, num::NonZeroUsize};
use tonic::Response;
use v1::reconcile_ledger_response::Difference;

const HELP: &str = "\
No difference is the normal case. Requests that ended in the last minute may still be on their way to one of the two.
Fails where there is a difference.";

/// What to compare.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct ReconcileArgs {
    /// Whose; all tenants where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
    /// Most differences to print
    #[arg(long, default_value = "1000")]
    limit: NonZeroUsize,
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
    let asked = v1::ReconcileLedgerRequest {
        tenant_id: args.tenant,
        start_time: Some(start),
        end_time: end,
        ..Default::default()
    };
    let found = compare(args.limit, async |page_size, page_token| {
        let request = v1::ReconcileLedgerRequest { page_size, page_token, ..asked.clone() };
        let answer = client.reconcile_ledger(request).await;
        answer.map(Response::into_inner).map_err(|status| failures::from_call(&status))
    });
    let found = found.await?;
    print(&if args.json { json::to_json(&found)? } else { report(&found) })?;
    verdict(&found)
}

/// The differences of as many pages as it takes, with the sums, which each page has of the whole window.
async fn compare(
    limit: NonZeroUsize,
    mut ask: impl AsyncFnMut(i32, String) -> Result<v1::ReconcileLedgerResponse, CommandError>,
) -> Result<v1::ReconcileLedgerResponse, CommandError> {
    let mut found = v1::ReconcileLedgerResponse::default();
    let differences = pages::up_to(limit.get(), async |size, token| {
        let page = ask(size, token).await?;
        let next = page.next_page_token.clone();
        found = v1::ReconcileLedgerResponse { differences: Vec::new(), ..page };
        Ok((page.differences, next))
    });
    found.differences = differences.await?.0;
    Ok(found)
}

/// Fails where the two differ.
fn verdict(found: &v1::ReconcileLedgerResponse) -> Result<(), CommandError> {
    let requests: BTreeSet<_> =
        found.differences.iter().map(|one| (&one.tenant_id, &one.request_id)).collect();
    let least = if found.next_page_token.is_empty() { "" } else { "at least " };
    let what = match requests.len() {
        0 => return Ok(()),
        1 => "1 request".to_owned(),
        count => format!("{count} requests"),
    };
    Err(CommandError::new(format!("ledger and usage store differ on {least}{what}")))
}

fn report(found: &v1::ReconcileLedgerResponse) -> String {
    let mut sums = format!(
        "{} requests compared: the ledger has {}, the usage store {}",
        found.requests,
        shown(found.ledger_nano_eur),
        shown(found.usage_nano_eur)
    );
    if found.unknown_requests > 0 {
        let (count, held) = (found.unknown_requests, shown(found.unknown_nano_eur));
        sums.push_str(&format!("; {held} stand for the unknown cost of {count}"));
    }
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
        let some = v1::ReconcileLedgerResponse {
            usage_nano_eur: 750_000_000,
            unknown_requests: 2,
            unknown_nano_eur: 250_000_000,
            ..none.clone()
        };
        let expected = "no difference\n12 requests compared: the ledger has €1.00, the usage store €0.75; €0.25 stand \
                        for the unknown cost of 2";
        assert_eq!(report(&some), expected);
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
    #[tokio::test]
    async fn sums_are_those_of_the_window_however_many_pages_it_takes() {
        let one = |budget: &str| Difference {
            request_id: "r-1".into(),
            budget_id: budget.into(),
            ..Difference::default()
        };
        let page = async |_, token: String| {
            let (differences, next) = match token.as_str() {
                "" => (vec![one("daily"), one("monthly")], "more"),
                _ => (vec![one("prepaid")], ""),
            };
            let (ledger_nano_eur, usage_nano_eur, requests) = (7, 5, 12);
            let next_page_token = next.to_owned();
            Ok(v1::ReconcileLedgerResponse {
                differences,
                next_page_token,
                ledger_nano_eur,
                usage_nano_eur,
                requests,
                ..Default::default()
            })
        };
        let found = compare(NonZeroUsize::MAX, page).await.unwrap();
        assert_eq!((found.differences.len(), found.requests), (3, 12));
        assert_eq!((found.ledger_nano_eur, found.usage_nano_eur), (7, 5));
        let told = verdict(&found).unwrap_err().to_string();
        assert_eq!(told, "ledger and usage store differ on 1 request");
        let found = compare(NonZeroUsize::MIN, page).await.unwrap();
        assert!(verdict(&found).unwrap_err().to_string().ends_with("at least 1 request"));
    }
}
