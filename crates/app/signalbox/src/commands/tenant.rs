//! `signalbox tenant`: who uses Signalbox, and what they may.

mod doubts;
mod fields;
mod report;

use super::{CommandError, connect::ServerArgs, connect::Way, failures, pages, print};
use fields::FieldArgs;
use signalbox_api::{json, v1};
use tonic::Status;
use v1::{budget_service_client::BudgetServiceClient, tenant::State};

/// What to do with tenants.
#[derive(Debug, clap::Args)]
pub(crate) struct TenantArgs {
    #[command(subcommand)]
    action: Action,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a tenant
    Create(WriteArgs),
    /// List the tenants
    List,
    /// Show one tenant
    Show(WhichArgs),
    /// Change a tenant: what is not named stays
    Update(UpdateArgs),
    /// Refuse a tenant's requests, and keep everything
    Suspend(WhichArgs),
    /// Serve a suspended tenant again
    Resume(WhichArgs),
}

/// Which tenant.
#[derive(Debug, clap::Args)]
struct WhichArgs {
    /// Its id
    #[arg(value_name = "TENANT")]
    tenant_id: String,
}

/// Which tenant, and what is said of it.
#[derive(Debug, clap::Args)]
struct WriteArgs {
    #[command(flatten)]
    which: WhichArgs,
    #[command(flatten)]
    fields: FieldArgs,
}

/// Which tenant, and what changes.
#[derive(Debug, clap::Args)]
struct UpdateArgs {
    #[command(flatten)]
    write: WriteArgs,
    /// A field to take back to its default, as in `plan` or `allowed_models`; may be given several times
    #[arg(long = "clear", value_name = "FIELD")]
    cleared: Vec<String>,
}

/// Does what was asked.
pub(crate) async fn run(args: TenantArgs) -> Result<(), CommandError> {
    let mut client = args.server.budget().await?;
    let tenant = match args.action {
        Action::List => return list(&mut client, args.json).await,
        Action::Show(which) => get(&mut client, which.tenant_id).await?,
        Action::Create(write) => create(&mut client, &args.server, write).await?,
        Action::Update(update) => change(&mut client, &args.server, update).await?,
        Action::Suspend(which) => set_state(&mut client, which, State::Suspended).await?,
        Action::Resume(which) => set_state(&mut client, which, State::Active).await?,
    };
    print(&if args.json { json::to_json(&tenant)? } else { report::one(&tenant) })
}

type Client = BudgetServiceClient<Way>;

fn failed(status: Status) -> CommandError {
    failures::from_call(&status)
}

async fn list(client: &mut Client, as_json: bool) -> Result<(), CommandError> {
    let tenants = pages::all(async |page_size, page_token| {
        let request = v1::ListTenantsRequest { page_size, page_token };
        let page = client.list_tenants(request).await.map_err(failed)?.into_inner();
        Ok((page.tenants, page.next_page_token))
    });
    let found = v1::ListTenantsResponse { tenants: tenants.await?, next_page_token: String::new() };
    print(&if as_json { json::to_json(&found)? } else { report::all(&found.tenants) })
}

async fn get(client: &mut Client, tenant_id: String) -> Result<v1::Tenant, CommandError> {
    let answer = client.get_tenant(v1::GetTenantRequest { tenant_id }).await.map_err(failed)?;
    Ok(answer.into_inner().tenant.unwrap_or_default())
}

async fn create(
    client: &mut Client,
    server: &ServerArgs,
    args: WriteArgs,
) -> Result<v1::Tenant, CommandError> {
    let mut tenant = v1::Tenant { tenant_id: args.which.tenant_id, ..v1::Tenant::default() };
    let written = args.fields.write(&mut tenant);
    let request = v1::CreateTenantRequest { tenant: Some(tenant) };
    let answer = client.create_tenant(request).await.map_err(failed)?;
    let tenant = answer.into_inner().tenant.unwrap_or_default();
    doubts::tell(server, &tenant, &written).await;
    Ok(tenant)
}

/// Reads, changes and writes back: if another changed it meanwhile, the server refuses.
async fn change(
    client: &mut Client,
    server: &ServerArgs,
    args: UpdateArgs,
) -> Result<v1::Tenant, CommandError> {
    let mut tenant = get(client, args.write.which.tenant_id).await?;
    let mut paths = args.write.fields.write(&mut tenant);
    for field in &args.cleared {
        fields::clear(&mut tenant, field)?;
    }
    paths.extend(args.cleared);
    if paths.is_empty() {
        return Err(CommandError::new("nothing to change: name what is to be different, see --help"));
    }
    let tenant = update(client, tenant, paths.clone()).await?;
    doubts::tell(server, &tenant, &paths).await;
    Ok(tenant)
}

async fn set_state(client: &mut Client, which: WhichArgs, state: State) -> Result<v1::Tenant, CommandError> {
    let tenant = v1::Tenant { tenant_id: which.tenant_id, state: state.into(), ..v1::Tenant::default() };
    update(client, tenant, vec!["state".to_owned()]).await
}

async fn update(
    client: &mut Client,
    tenant: v1::Tenant,
    paths: Vec<String>,
) -> Result<v1::Tenant, CommandError> {
    let update_mask = Some(prost_types::FieldMask { paths });
    let request = v1::UpdateTenantRequest { tenant: Some(tenant), update_mask };
    let answer = client.update_tenant(request).await.map_err(failed)?;
    Ok(answer.into_inner().tenant.unwrap_or_default())
}

#[cfg(test)]
mod tests;
