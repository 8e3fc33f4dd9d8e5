//! Who runs the system.

use clickhouse::Client;
use signalbox_api::v1::{
    ApiKey, CreateApiKeyRequest, CreateTenantRequest, Tenant, api_key::Scope,
    budget_service_client::BudgetServiceClient,
};
use signalbox_local::{ENGINES_USER, Kind, Stack};
use signalbox_testkit::{Key, Keyed};
use tonic::{Code, Status, transport::Endpoint};

/// Whoever has the key that all roles share.
#[derive(Debug, Clone)]
pub struct Operator<'s>(pub &'s Stack);

impl Operator<'_> {
    /// The way to the first process of a role.
    ///
    /// # Errors
    /// There is no such role.
    pub fn way(&self, kind: Kind) -> Result<Keyed, String> {
        let url = self.0.urls(kind).into_iter().next().unwrap_or_default();
        let endpoint = Endpoint::from_shared(url).map_err(|error| error.to_string())?;
        Ok(Keyed::new(endpoint.connect_lazy(), Key::new(&self.0.secrets().admin_key)))
    }

    /// A key of a tenant, which is made unless it is there.
    ///
    /// # Errors
    /// The budget service refuses it.
    pub async fn key(&self, tenant_id: &str) -> Result<String, String> {
        let told = |status: Status| format!("tenant {tenant_id}: {status}");
        let mut client = BudgetServiceClient::new(self.way(Kind::Budget)?);
        let tenant = Tenant { tenant_id: tenant_id.to_owned(), ..Tenant::default() };
        match client.create_tenant(CreateTenantRequest { tenant: Some(tenant) }).await {
            Err(status) if status.code() != Code::AlreadyExists => return Err(told(status)),
            _ => {}
        }
        let tenant_id = tenant_id.to_owned();
        let key = ApiKey { tenant_id, scope: Scope::Tenant.into(), ..ApiKey::default() };
        let made = client.create_api_key(CreateApiKeyRequest { api_key: Some(key) }).await.map_err(told)?;
        Ok(made.into_inner().secret)
    }

    /// What ClickHouse's engine itself answers: one column of text.
    ///
    /// # Errors
    /// It refuses the question.
    pub async fn sql(&self, query: &str) -> Result<Vec<String>, String> {
        let url = self.0.urls(Kind::ClickHouse).into_iter().next().unwrap_or_default();
        let client = Client::default().with_url(url).with_database("signalbox");
        let client = client.with_user(ENGINES_USER).with_password(&self.0.secrets().engines);
        client.query(query).fetch_all().await.map_err(|error| format!("{query}: {error}"))
    }
}
