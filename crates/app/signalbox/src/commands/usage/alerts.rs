//! `signalbox usage alerts`: models that behave unlike their own history.

use super::{Client, failed};
use crate::commands::{CommandError, pages, print, show, when};
use signalbox_api::{json, v1};
use v1::alert::State;

/// Which alerts.
#[derive(Debug, clap::Args)]
pub(super) struct AlertsArgs {
    /// Also those that are over
    #[arg(long)]
    all: bool,
    /// Only of this vendor entry
    #[arg(long, default_value = "")]
    vendor: String,
    /// Only of this model
    #[arg(long, default_value = "")]
    model: String,
}

/// Asks and prints.
pub(super) async fn run(mut client: Client, args: AlertsArgs, as_json: bool) -> Result<(), CommandError> {
    let states = if args.all { vec![State::Open, State::Escalated, State::Closed] } else { Vec::new() };
    let asked = v1::ListAlertsRequest {
        states: states.into_iter().map(|state| state as i32).collect(),
        vendor: args.vendor,
        model: args.model,
        ..Default::default()
    };
    let alerts = pages::all(async |page_size, page_token| {
        let request = v1::ListAlertsRequest { page_size, page_token, ..asked.clone() };
        let page = client.list_alerts(request).await.map_err(failed)?.into_inner();
        Ok((page.alerts, page.next_page_token))
    });
    let found = v1::ListAlertsResponse { alerts: alerts.await?, next_page_token: String::new() };
    print(&if as_json { json::to_json(&found)? } else { table(&found.alerts) })
}

fn table(alerts: &[v1::Alert]) -> String {
    if alerts.is_empty() {
        return "no alert".to_owned();
    }
    let mut rows = vec![["OPENED (UTC)", "STATE", "RULE", "WHO", "WHAT"].map(str::to_owned).to_vec()];
    rows.extend(alerts.iter().map(|alert| {
        let who = match alert.model.as_str() {
            "" => alert.vendor.clone(),
            model => format!("{}/{model}", alert.vendor),
        };
        vec![
            when::shown(alert.open_time.as_ref()),
            show::word(alert.state().as_str_name(), "STATE_"),
            alert.rule.clone(),
            who,
            alert.description.clone(),
        ]
    }));
    show::table(&rows, &[]).join("\n")
}
