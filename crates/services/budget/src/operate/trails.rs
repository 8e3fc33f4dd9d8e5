//! What happened: ledger entries and the audit trail.

use crate::{
    check::{check_id, check_text},
    failure,
    pages::Page,
    service::Dependencies,
};
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{
        ListAuditEntriesRequest, ListAuditEntriesResponse, ListLedgerEntriesRequest,
        ListLedgerEntriesResponse, ledger_entry::Kind,
    },
};
use signalbox_ports::ledger::EntryQuery;
use signalbox_types::Failure;

/// Answers `ListLedgerEntries`.
pub(crate) async fn entries(
    dependencies: &Dependencies,
    request: ListLedgerEntriesRequest,
) -> Result<ListLedgerEntriesResponse, Failure> {
    let mut violations = Violations::default();
    check_id(&request.tenant_id, "tenant_id", &mut violations);
    let filters = [
        ("budget_id", &request.budget_id),
        ("period_id", &request.period_id),
        ("request_id", &request.request_id),
    ];
    for (field, text) in filters {
        check_text(text, 1_024, field, &mut violations);
    }
    let kinds = kinds(&request.kinds, &mut violations);
    let page = Page::of(&request, &mut violations);
    violations.into_result()?;
    let said = |text: String| Some(text).filter(|text| !text.is_empty());
    let before = page.after_id().and_then(|id| id.parse().ok());
    let query = EntryQuery {
        tenant_id: request.tenant_id,
        budget_id: said(request.budget_id),
        period_id: said(request.period_id),
        request_id: said(request.request_id),
        kinds,
        before,
        most: page.ask(),
    };
    let mut entries = dependencies.ledger.entries(&query).await.map_err(failure::of_ledger)?;
    let next_page_token = page.cut(&mut entries, |last| vec![last.entry_id.to_string()]);
    Ok(ListLedgerEntriesResponse { entries, next_page_token })
}

fn kinds(kinds: &[i32], violations: &mut Violations) -> Vec<Kind> {
    let read = |(index, kind): (usize, &i32)| {
        let field = format!("kinds[{index}]");
        let read = known_enum::<Kind>(*kind, &field, violations);
        violations.check(*kind != 0, || field, || "must say a kind");
        read
    };
    kinds.iter().enumerate().map(read).collect()
}

/// Answers `ListAuditEntries`.
pub(crate) async fn audits(
    dependencies: &Dependencies,
    request: ListAuditEntriesRequest,
) -> Result<ListAuditEntriesResponse, Failure> {
    let mut violations = Violations::default();
    if !request.tenant_id.is_empty() {
        check_id(&request.tenant_id, "tenant_id", &mut violations);
    }
    let page = Page::of(&request, &mut violations);
    violations.into_result()?;
    let found = dependencies.tenants.audits(&request.tenant_id, page.after_id(), page.ask()).await;
    let mut entries = found.map_err(failure::of_reading)?;
    let next_page_token = page.cut(&mut entries, |last| vec![last.audit_id.clone()]);
    Ok(ListAuditEntriesResponse { entries, next_page_token })
}
