//! A tenant to try things with: made as an operator makes one, by the service.

use crate::{Kind, Part, Purpose, Stack, folder};
use signalbox_api::v1::{
    ApiKey, Budget, CreateApiKeyRequest, CreateBudgetRequest, CreateTenantRequest, Tenant,
    api_key::Scope,
    budget::{Enforcement, Period},
    budget_service_client::BudgetServiceClient,
};
use tonic::{Code, Request, Response, Status, transport::Endpoint};

/// Its id.
pub const TENANT: &str = "demo";
/// Its budget, in nano-EUR a month.
const LIMIT: i64 = 5_000_000_000;

/// Makes the tenant, its budget and its key, unless there is a key already; and a file from which shells know them.
pub(crate) async fn provide(stack: &mut Stack) -> Result<(), String> {
    if stack.key().is_none() {
        let key = make(stack).await.map_err(|status| format!("no tenant was made: {status}"))?;
        stack.set_key(key)?;
    }
    folder::write(&stack.folder().env(), &environment(stack))
}

async fn make(stack: &Stack) -> Result<String, Status> {
    let budget = Part { kind: Kind::Budget, number: 1 };
    let address = format!("http://{}", stack.ports().address(budget, Purpose::Clients));
    let channel = Endpoint::from_shared(address).map_err(|error| Status::internal(error.to_string()))?;
    let channel = channel.connect().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let operator = format!("Bearer {}", stack.secrets().admin_key);
    let operator: tonic::metadata::MetadataValue<_> =
        operator.parse().map_err(|_| Status::internal("the key is none"))?;
    let mut client = BudgetServiceClient::with_interceptor(channel, move |mut request: Request<()>| {
        request.metadata_mut().insert("authorization", operator.clone());
        Ok(request)
    });
    let tenant = Tenant { tenant_id: TENANT.to_owned(), ..Tenant::default() };
    there(client.create_tenant(CreateTenantRequest { tenant: Some(tenant) }).await)?;
    there(client.create_budget(CreateBudgetRequest { budget: Some(monthly()) }).await)?;
    let api_key = ApiKey { tenant_id: TENANT.to_owned(), scope: Scope::Tenant.into(), ..ApiKey::default() };
    let made = client.create_api_key(CreateApiKeyRequest { api_key: Some(api_key) }).await?;
    Ok(made.into_inner().secret)
}

/// One that was made before, and not remembered, is as good.
fn there<T>(made: Result<Response<T>, Status>) -> Result<(), Status> {
    match made {
        Err(status) if status.code() != Code::AlreadyExists => Err(status),
        _ => Ok(()),
    }
}

fn monthly() -> Budget {
    Budget {
        budget_id: "monthly".to_owned(),
        tenant_id: TENANT.to_owned(),
        period: Period::Monthly.into(),
        limit_nano_eur: LIMIT,
        enforcement: Enforcement::Hard.into(),
        ..Budget::default()
    }
}

fn environment(stack: &Stack) -> String {
    let programs = stack.program("");
    let tools = signalbox_testkit::workspace().join(".tools/bin");
    let server = stack.urls(Kind::Router).into_iter().next().unwrap_or_default();
    let path = format!("\"{}:{}:$PATH\"", programs.display(), tools.display());
    let variables = [
        ("PATH", &*path),
        ("SIGNALBOX_SERVER", &server),
        ("SIGNALBOX_API_KEY", stack.key().unwrap_or_default()),
        ("SIGNALBOX_ADMIN_KEY", &stack.secrets().admin_key),
    ];
    variables.iter().map(|(name, value)| format!("export {name}={value}\n")).collect()
}
