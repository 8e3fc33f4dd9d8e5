//! Tenants.

use crate::{
    audit::Deed,
    check::{check_id, check_tenant},
    failure,
    mask::{self, Field, field},
    pages::Page,
    service::Dependencies,
};
use signalbox_api::{
    convert::Violations,
    v1::{
        CreateTenantRequest, CreateTenantResponse, GetTenantRequest, GetTenantResponse, ListTenantsRequest,
        ListTenantsResponse, Tenant, UpdateTenantRequest, UpdateTenantResponse,
    },
};
use signalbox_ports::Identity;
use signalbox_types::Failure;

/// What can be changed of a tenant.
fn fields() -> [Field<Tenant>; 14] {
    [
        field!(Tenant, display_name),
        field!(Tenant, plan),
        field!(Tenant, state),
        field!(Tenant, time_zone),
        field!(Tenant, locale),
        field!(Tenant, allowed_tiers),
        field!(Tenant, allowed_models),
        field!(Tenant, required_vendor_labels),
        field!(Tenant, weights),
        field!(Tenant, default_max_output_tokens),
        field!(Tenant, require_known_cost),
        field!(Tenant, failure_mode),
        field!(Tenant, rate_limit),
        field!(Tenant, scenes),
    ]
}

/// Answers `CreateTenant`.
pub(crate) async fn create(
    dependencies: &Dependencies,
    actor: &Identity,
    request: CreateTenantRequest,
) -> Result<CreateTenantResponse, Failure> {
    let mut tenant = request.tenant.ok_or_else(|| Failure::invalid("tenant", "is required"))?;
    check(dependencies, &tenant)?;
    let id = tenant.tenant_id.clone();
    tenant.create_time = Some(dependencies.clock.now().into());
    (tenant.former_time_zone, tenant.time_zone_change_time) = (String::new(), None);
    tenant.etag.clear();
    let deed = Deed { actor, method: "CreateTenant", tenant_id: &id, reason: "" };
    let entry = deed.entry(&*dependencies.clock, resource(&id), None, Some(&tenant));
    tenant.etag.clone_from(&entry.audit_id);
    let created = dependencies.tenants.create_tenant(&tenant, &entry).await;
    created.map_err(|error| failure::of_store(error, || failure::tenant(&id)))?;
    Ok(CreateTenantResponse { tenant: Some(tenant) })
}

/// Answers `GetTenant`.
pub(crate) async fn get(
    dependencies: &Dependencies,
    request: GetTenantRequest,
) -> Result<GetTenantResponse, Failure> {
    let tenant = find(dependencies, &request.tenant_id, "tenant_id").await?;
    Ok(GetTenantResponse { tenant: Some(tenant) })
}

/// Answers `ListTenants`.
pub(crate) async fn list(
    dependencies: &Dependencies,
    _: &Identity,
    request: ListTenantsRequest,
) -> Result<ListTenantsResponse, Failure> {
    let mut violations = Violations::default();
    let page = Page::of(&request, &mut violations);
    violations.into_result()?;
    let after = page.after_id().unwrap_or_default();
    let mut tenants = dependencies.tenants.tenants(after, page.ask()).await.map_err(failure::of_reading)?;
    let next_page_token = page.cut(&mut tenants, |last| vec![last.tenant_id.clone()]);
    Ok(ListTenantsResponse { tenants, next_page_token })
}

/// Answers `UpdateTenant`.
pub(crate) async fn update(
    dependencies: &Dependencies,
    actor: &Identity,
    request: UpdateTenantRequest,
) -> Result<UpdateTenantResponse, Failure> {
    let wanted = request.tenant.ok_or_else(|| Failure::invalid("tenant", "is required"))?;
    let id = wanted.tenant_id.clone();
    let before = find(dependencies, &id, "tenant.tenant_id").await?;
    let after = changed(dependencies, &before, &wanted, request.update_mask.as_ref())?;
    let deed = Deed { actor, method: "UpdateTenant", tenant_id: &id, reason: "" };
    let entry = deed.entry(&*dependencies.clock, resource(&id), Some(&before), Some(&after));
    let after = Tenant { etag: entry.audit_id.clone(), ..after };
    // Whoever sends no etag means the tenant as it is now, but even then no change that comes between is lost.
    let etag = if wanted.etag.is_empty() { &before.etag } else { &wanted.etag };
    let updated = dependencies.tenants.update_tenant(&after, etag, &entry).await;
    updated.map_err(|error| failure::of_store(error, || failure::tenant(&id)))?;
    Ok(UpdateTenantResponse { tenant: Some(after) })
}

fn changed(
    dependencies: &Dependencies,
    before: &Tenant,
    wanted: &Tenant,
    mask: Option<&prost_types::FieldMask>,
) -> Result<Tenant, Failure> {
    let mut violations = Violations::default();
    let mut after = before.clone();
    mask::apply(&fields(), mask, wanted, &mut after, &mut violations);
    violations.into_result()?;
    check(dependencies, &after)?;
    if after.time_zone != before.time_zone {
        after.former_time_zone.clone_from(&before.time_zone);
        after.time_zone_change_time = Some(dependencies.clock.now().into());
    }
    Ok(after)
}

fn check(dependencies: &Dependencies, tenant: &Tenant) -> Result<(), Failure> {
    let mut violations = Violations::default();
    check_tenant(tenant, &dependencies.config.loaded().config, &mut violations);
    violations.into_result()
}

/// The tenant that a field names.
pub(super) async fn find(
    dependencies: &Dependencies,
    tenant_id: &str,
    field: &str,
) -> Result<Tenant, Failure> {
    let mut violations = Violations::default();
    check_id(tenant_id, field, &mut violations);
    violations.into_result()?;
    let found = dependencies.tenants.tenant(tenant_id).await.map_err(failure::of_reading)?;
    found.ok_or_else(|| failure::not_found(&failure::tenant(tenant_id)))
}

fn resource(tenant_id: &str) -> String {
    format!("tenant/{tenant_id}")
}
