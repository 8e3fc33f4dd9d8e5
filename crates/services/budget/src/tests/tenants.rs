use super::world::{World, by, fields, refused, told};
use prost_types::FieldMask;
use signalbox_api::v1::{
    ListTenantsRequest, RateLimit, Tenant, UpdateTenantRequest, budget_service_server::BudgetService,
};
use signalbox_ports::Scope;
use signalbox_types::ErrorReason;
use tonic::Request;

fn update(tenant: Tenant, paths: &[&str]) -> UpdateTenantRequest {
    let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let update_mask = (!paths.is_empty()).then_some(FieldMask { paths });
    UpdateTenantRequest { tenant: Some(tenant), update_mask }
}

fn acme() -> Tenant {
    Tenant { tenant_id: "acme".to_owned(), ..Tenant::default() }
}

#[tokio::test]
async fn a_tenant_is_added_once_and_read_as_it_was_given() {
    let world = World::new().await;
    let given = Tenant {
        display_name: "ACME".into(),
        time_zone: "Europe/Rome".into(),
        plan: "small".into(),
        ..acme()
    };
    let made = world.tenant(given.clone()).await;
    assert_eq!((made.display_name.as_str(), made.time_zone.as_str()), ("ACME", "Europe/Rome"));
    assert!(made.create_time.is_some() && !made.etag.is_empty());
    let request = signalbox_api::v1::CreateTenantRequest { tenant: Some(given) };
    let again = refused(world.service.create_tenant(Request::new(request)).await);
    assert_eq!(again.reason, ErrorReason::AlreadyExists);
    let request = signalbox_api::v1::GetTenantRequest { tenant_id: "acme".into() };
    assert_eq!(told(world.service.get_tenant(Request::new(request)).await).tenant, Some(made));
    let request = signalbox_api::v1::GetTenantRequest { tenant_id: "nobody".into() };
    assert_eq!(refused(world.service.get_tenant(Request::new(request)).await).reason, ErrorReason::NotFound);
}

#[tokio::test]
async fn an_update_changes_what_its_mask_names_and_nothing_else() {
    let world = World::new().await;
    let limit = Some(RateLimit { requests_per_minute: 60, ..RateLimit::default() });
    world.tenant(Tenant { plan: "small".into(), rate_limit: limit, ..acme() }).await;
    let change = |tenant, paths: &'static [&'static str]| {
        world.service.update_tenant(Request::new(update(tenant, paths)))
    };
    let named = Tenant { display_name: "ACME".into(), locale: "it-IT".into(), ..acme() };
    let after = told(change(named.clone(), &["display_name"]).await).tenant.unwrap();
    assert_eq!((after.display_name.as_str(), after.locale.as_str(), after.rate_limit), ("ACME", "", limit));
    let after = told(change(named, &[]).await).tenant.unwrap();
    assert_eq!((after.locale.as_str(), after.plan.as_str()), ("it-IT", "small"), "unset: what is set");
    let after = told(change(acme(), &["plan", "rate_limit"]).await).tenant.unwrap();
    assert_eq!((after.plan.as_str(), after.rate_limit), ("", None), "named and not set: cleared");
    assert_eq!(
        fields(change(acme(), &["plan", "etag", "colour"]).await),
        ["update_mask.paths[1]", "update_mask.paths[2]"]
    );
}

#[tokio::test]
async fn of_two_who_read_the_same_the_second_to_write_is_told() {
    let world = World::new().await;
    let read = world.tenant(acme()).await;
    let first = Tenant { locale: "it-IT".into(), ..read.clone() };
    let second = Tenant { locale: "de-DE".into(), ..read };
    let after = told(world.service.update_tenant(Request::new(update(first, &["locale"]))).await);
    let failure =
        refused(world.service.update_tenant(Request::new(update(second.clone(), &["locale"]))).await);
    assert_eq!(failure.reason, ErrorReason::Conflict);
    let fresh = Tenant { etag: after.tenant.unwrap().etag, ..second };
    told(world.service.update_tenant(Request::new(update(fresh, &["locale"]))).await);
}

#[tokio::test]
async fn tenants_are_listed_page_by_page() {
    let world = World::new().await;
    for id in ["e", "c", "a", "d", "b"] {
        world.tenant(Tenant { tenant_id: id.into(), ..Tenant::default() }).await;
    }
    let mut request = ListTenantsRequest { page_size: 2, ..Default::default() };
    let mut seen = Vec::new();
    loop {
        let page = told(world.service.list_tenants(Request::new(request.clone())).await);
        seen.push(page.tenants.iter().map(|tenant| tenant.tenant_id.clone()).collect::<String>());
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert_eq!(seen, ["ab", "cd", "e"]);
    let nonsense = ListTenantsRequest { page_size: -1, page_token: "nonsense".into() };
    assert_eq!(fields(world.service.list_tenants(Request::new(nonsense)).await), ["page_size", "page_token"]);
}

#[tokio::test]
async fn the_audit_trail_says_who_changed_what_from_what_to_what() {
    let world = World::new().await;
    world.tenant(acme()).await;
    let renamed = Tenant { display_name: "ACME".into(), ..acme() };
    told(world.service.update_tenant(by(&Scope::Admin, update(renamed, &[]))).await);
    let [update, create] = &world.audits().await[..] else { panic!("two changes") };
    assert_eq!((create.method.as_str(), create.actor_key_id.as_str()), ("CreateTenant", ""));
    assert_eq!(create.before_json, "");
    assert_eq!((update.method.as_str(), update.actor_key_id.as_str()), ("UpdateTenant", "k-caller"));
    assert_eq!(update.resource, "tenant/acme");
    assert!(!update.before_json.contains("ACME"), "{}", update.before_json);
    assert!(update.after_json.contains("\"displayName\":\"ACME\""), "{}", update.after_json);
}
