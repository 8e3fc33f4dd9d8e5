//! What moved money, and who changed what.

use super::{Client, failed};
use crate::commands::{CommandError, euros::shown, pages, print, show, when};
use signalbox_api::{json, v1};
use v1::ledger_entry::Kind;

/// Which entries.
#[derive(Debug, clap::Args)]
pub(super) struct LedgerArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// Only this budget
    #[arg(long, value_name = "ID", default_value = "")]
    budget: String,
    /// Only this period, as in `2026-11`, `2026-11-30` or `prepaid`
    #[arg(long, value_name = "PERIOD", default_value = "")]
    period: String,
    /// Only this request
    #[arg(long, value_name = "ID", default_value = "")]
    request: String,
    /// Only these kinds: limit, grant, return, reserve, release, settle, orphan, write-off
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = kind)]
    kinds: Vec<Kind>,
    /// Most to print
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

/// Whose changes.
#[derive(Debug, clap::Args)]
pub(super) struct AuditArgs {
    /// Whose things were changed; everybody's where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
    /// Most to print
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_str_name(&format!("KIND_{}", name.replace('-', "_").to_uppercase()))
        .filter(|kind| *kind != Kind::Unspecified)
        .ok_or_else(|| {
            "there are limit, grant, return, reserve, release, settle, orphan and write-off".to_owned()
        })
}

/// Prints ledger entries.
pub(super) async fn ledger(client: &mut Client, args: LedgerArgs, as_json: bool) -> Result<(), CommandError> {
    let asked = v1::ListLedgerEntriesRequest {
        tenant_id: args.tenant,
        budget_id: args.budget,
        period_id: args.period,
        request_id: args.request,
        kinds: args.kinds.into_iter().map(Into::into).collect(),
        ..Default::default()
    };
    let found = pages::up_to(args.limit, async |page_size, page_token| {
        let request = v1::ListLedgerEntriesRequest { page_size, page_token, ..asked.clone() };
        let page = client.list_ledger_entries(request).await.map_err(failed)?.into_inner();
        Ok((page.entries, page.next_page_token))
    });
    let (listed, next_page_token) = found.await?;
    let found = v1::ListLedgerEntriesResponse { entries: listed, next_page_token };
    print(&if as_json { json::to_json(&found)? } else { entries(&found.entries) })
}

/// Prints the audit trail.
pub(super) async fn audit(client: &mut Client, args: AuditArgs, as_json: bool) -> Result<(), CommandError> {
    let found = pages::up_to(args.limit, async |page_size, page_token| {
        let request = v1::ListAuditEntriesRequest { tenant_id: args.tenant.clone(), page_size, page_token };
        let page = client.list_audit_entries(request).await.map_err(failed)?.into_inner();
        Ok((page.entries, page.next_page_token))
    });
    let (entries, next_page_token) = found.await?;
    let found = v1::ListAuditEntriesResponse { entries, next_page_token };
    print(&if as_json { json::to_json(&found)? } else { changes(&found.entries) })
}

/// Ledger entries as a table.
pub(super) fn entries(entries: &[v1::LedgerEntry]) -> String {
    if entries.is_empty() {
        return "no entry".to_owned();
    }
    let head = ["WHEN (UTC)", "BUDGET", "PERIOD", "KIND", "AMOUNT", "REQUEST", "REASON"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|entry| {
        let estimated = if entry.estimated { "~" } else { "" };
        let facts = [
            when::shown(entry.create_time.as_ref()),
            entry.budget_id.clone(),
            entry.period_id.clone(),
            show::word(entry.kind().as_str_name(), "KIND_"),
            format!("{estimated}{}", shown(entry.amount_nano_eur)),
            entry.request_id.clone(),
            entry.reason.clone(),
        ];
        facts.map(show::or_dash).to_vec()
    }));
    let mut lines = show::table(&rows, &[4]);
    if entries.iter().any(|entry| entry.estimated) {
        lines.push("An amount with ~ is an estimate.".to_owned());
    }
    lines.join("\n")
}

/// The audit trail as a table; what changed, field by field, is in the JSON.
pub(super) fn changes(entries: &[v1::AuditEntry]) -> String {
    if entries.is_empty() {
        return "no change".to_owned();
    }
    let head = ["WHEN (UTC)", "BY KEY", "WHAT", "TENANT", "OF", "REASON"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|entry| {
        let facts = [
            when::shown(entry.create_time.as_ref()),
            entry.actor_key_id.clone(),
            entry.method.clone(),
            entry.tenant_id.clone(),
            entry.resource.clone(),
            entry.reason.clone(),
        ];
        facts.map(show::or_dash).to_vec()
    }));
    show::table(&rows, &[]).join("\n")
}
