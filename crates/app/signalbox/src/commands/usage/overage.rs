//! `signalbox usage overage`: what exceeds a plan.

use super::{Client, failed};
use crate::commands::{CommandError, print, show};
use signalbox_api::{json, v1};
use v1::overage::Measure;

/// Whose plan.
#[derive(Debug, clap::Args)]
pub(super) struct OverageArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// The month, in UTC, as in `2026-10`; the one that runs where left out
    #[arg(long, default_value = "")]
    month: String,
}

/// Asks and prints.
pub(super) async fn run(mut client: Client, args: OverageArgs, as_json: bool) -> Result<(), CommandError> {
    let request = v1::GetOverageRequest { tenant_id: args.tenant, month: args.month };
    let answer = client.get_overage(request).await.map_err(failed)?.into_inner();
    print(&if as_json { json::to_json(&answer)? } else { table(&answer) })
}

fn table(answer: &v1::GetOverageResponse) -> String {
    if answer.plan.is_empty() {
        return "the tenant has no plan".to_owned();
    }
    let mut rows = vec![["MEASURE", "INCLUDED", "USED", "OVER"].map(str::to_owned).to_vec()];
    rows.extend(answer.overages.iter().map(|overage| {
        let amount = |value: i64| match overage.measure() {
            Measure::Cost => show::cost(&v1::Cost { nano_eur: value, ..v1::Cost::default() }),
            _ => value.to_string(),
        };
        let measure = show::word(overage.measure().as_str_name(), "MEASURE_");
        vec![measure, amount(overage.included), amount(overage.used), amount(overage.over)]
    }));
    let mut lines = vec![format!("plan {}", answer.plan)];
    lines.extend(show::table(&rows, &[1, 2, 3]));
    lines.join("\n")
}
