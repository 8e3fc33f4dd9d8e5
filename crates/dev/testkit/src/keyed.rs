//! Calls with an API key.

use crate::Signalbox;
use signalbox_api::v1::{
    ApiKey, CreateApiKeyRequest, CreateTenantRequest, Tenant, api_key::Scope,
    budget_service_client::BudgetServiceClient,
};
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};

/// A connection on which each call carries an API key.
pub type Keyed = InterceptedService<Channel, Key>;

/// An API key, or none.
#[derive(Debug, Clone)]
pub struct Key(Option<MetadataValue<Ascii>>);

impl Key {
    /// This one; none where it is empty.
    pub fn new(key: &str) -> Self {
        let value = || {
            MetadataValue::try_from(format!("Bearer {key}"))
                .unwrap_or_else(|error| panic!("the key is none: {error}"))
        };
        Self((!key.is_empty()).then(value))
    }

    /// The key; empty for none.
    pub fn secret(&self) -> &str {
        let value = self.0.as_ref().and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.trim_start_matches("Bearer ")
    }
}

impl Interceptor for Key {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

impl Signalbox {
    /// A client of tenants, keys and budgets.
    pub fn budgets(&self, key: &str) -> BudgetServiceClient<Keyed> {
        BudgetServiceClient::new(self.keyed(key))
    }

    /// Adds a tenant, as who has this key.
    pub async fn add_tenant(&self, key: &str, tenant: Tenant) {
        let made = self.try_add_tenant(key, tenant).await;
        made.unwrap_or_else(|status| panic!("no tenant was made: {status}"));
    }

    pub(crate) async fn try_add_tenant(&self, key: &str, tenant: Tenant) -> Result<(), Status> {
        let request = CreateTenantRequest { tenant: Some(tenant) };
        self.budgets(key).create_tenant(request).await.map(drop)
    }

    /// Makes an API key, as who has another one: its id, and itself.
    pub async fn make_key(&self, key: &str, tenant_id: &str, scope: Scope) -> (String, String) {
        let api_key = ApiKey { tenant_id: tenant_id.to_owned(), scope: scope.into(), ..ApiKey::default() };
        let request = CreateApiKeyRequest { api_key: Some(api_key) };
        let made = self.budgets(key).create_api_key(request).await;
        let made = made.unwrap_or_else(|status| panic!("no key was made: {status}")).into_inner();
        (made.api_key.unwrap_or_default().key_id, made.secret)
    }
}
