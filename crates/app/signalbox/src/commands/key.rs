//! `signalbox key`: API keys.

use super::{
    CommandError,
    connect::{KEY_VARIABLE, ServerArgs, Way},
    failures, pages, print, print_aside,
    rates::{self, RateArgs},
    show, when,
};
use jiff::Timestamp;
use signalbox_api::{json, v1};
use tonic::Status;
use v1::{api_key::Scope, budget_service_client::BudgetServiceClient};

/// What to do with keys.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
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
    /// Make a key. It is shown once and never again
    Create(CreateArgs),
    /// List a tenant's keys
    List(ListArgs),
    /// End a key for good: refused everywhere within two seconds
    Revoke(RevokeArgs),
}

/// What the key is to be.
#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// What it may do: `tenant` calls models, `read-only` reads what is its tenant's, `admin` does everything for any
    /// tenant
    #[arg(long, value_name = "SCOPE", value_parser = scope, default_value = "tenant")]
    scope: Scope,
    /// What it is for
    #[arg(long, default_value = "")]
    name: String,
    /// When it ends by itself: after a time as in `90d`, or at a day or moment as in `2027-01-01`
    #[arg(long, value_name = "WHEN", value_parser = end)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    rate: RateArgs,
}

/// Whose keys.
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// Also those that were revoked or have expired
    #[arg(long)]
    all: bool,
}

/// Which key.
#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    /// The key's id: the part of it between the first two `_`, which is no secret
    key_id: String,
    /// Why, for the audit trail
    #[arg(long, default_value = "")]
    reason: String,
}

/// Does what was asked.
pub(crate) async fn run(args: KeyArgs) -> Result<(), CommandError> {
    let client = args.server.budget().await?;
    match args.action {
        Action::Create(create) => make(client, create, args.json).await,
        Action::List(list) => every(client, list, args.json).await,
        Action::Revoke(revoke) => end_one(client, revoke, args.json).await,
    }
}

type Client = BudgetServiceClient<Way>;

fn failed(status: Status) -> CommandError {
    failures::from_call(&status)
}

fn scope(name: &str) -> Result<Scope, String> {
    match name {
        "tenant" => Ok(Scope::Tenant),
        "read-only" => Ok(Scope::ReadOnly),
        "admin" => Ok(Scope::Admin),
        _ => Err("there are tenant, read-only and admin".to_owned()),
    }
}

fn end(text: &str) -> Result<Timestamp, String> {
    match when::span(text) {
        Ok(span) => Timestamp::now().checked_add(span).map_err(|error| error.to_string()),
        Err(_) => when::moment(text).map_err(|_| {
            format!("`{text}` is no time from now as in 90d, and no day or moment as in 2027-01-01")
        }),
    }
}

/// The key goes to standard output, alone, and what to do with it to standard error.
async fn make(mut client: Client, args: CreateArgs, as_json: bool) -> Result<(), CommandError> {
    let key = v1::ApiKey {
        tenant_id: args.tenant,
        display_name: args.name,
        scope: args.scope.into(),
        expire_time: args.expires.map(when::wire),
        rate_limit: args.rate.limit(),
        ..v1::ApiKey::default()
    };
    let request = v1::CreateApiKeyRequest { api_key: Some(key) };
    let answer = client.create_api_key(request).await.map_err(failed)?.into_inner();
    if as_json {
        return print(&json::to_json(&answer)?);
    }
    print(&answer.secret)?;
    print_aside(&made(&answer.api_key.unwrap_or_default()))
}

fn made(key: &v1::ApiKey) -> String {
    format!(
        "This is the only time that the key is shown: keep it where secrets are kept.\n\
         Its id is {}. Callers send it as `authorization: Bearer sbx_…`, commands take it from {KEY_VARIABLE}.",
        key.key_id
    )
}

async fn every(mut client: Client, args: ListArgs, as_json: bool) -> Result<(), CommandError> {
    let keys = pages::all(async |page_size, page_token| {
        let tenant_id = args.tenant.clone();
        let request = v1::ListApiKeysRequest { tenant_id, show_inactive: args.all, page_size, page_token };
        let page = client.list_api_keys(request).await.map_err(failed)?.into_inner();
        Ok((page.api_keys, page.next_page_token))
    });
    let found = v1::ListApiKeysResponse { api_keys: keys.await?, next_page_token: String::new() };
    print(&if as_json { json::to_json(&found)? } else { table(&found.api_keys) })
}

async fn end_one(mut client: Client, args: RevokeArgs, as_json: bool) -> Result<(), CommandError> {
    let request =
        v1::RevokeApiKeyRequest { tenant_id: args.tenant, key_id: args.key_id, reason: args.reason };
    let answer = client.revoke_api_key(request).await.map_err(failed)?.into_inner();
    if as_json {
        return print(&json::to_json(&answer)?);
    }
    let key = answer.api_key.unwrap_or_default();
    print(&format!("{} is revoked since {} UTC", key.key_id, when::shown(key.revoke_time.as_ref())))
}

fn table(keys: &[v1::ApiKey]) -> String {
    if keys.is_empty() {
        return "no key".to_owned();
    }
    let head = ["KEY", "SCOPE", "NAME", "CREATED (UTC)", "LAST USED", "EXPIRES", "REVOKED", "LIMITS"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(keys.iter().map(|key| {
        let facts = [
            key.key_id.clone(),
            show::word(key.scope().as_str_name(), "SCOPE_").replace(' ', "-"),
            key.display_name.clone(),
            when::shown(key.create_time.as_ref()),
            when::shown(key.last_use_time.as_ref()),
            when::shown(key.expire_time.as_ref()),
            when::shown(key.revoke_time.as_ref()),
            rates::shown(key.rate_limit.as_ref()),
        ];
        facts.map(show::or_dash).to_vec()
    }));
    show::table(&rows, &[]).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        args: KeyArgs,
    }

    fn action(words: &str) -> Result<Action, String> {
        let words = std::iter::once("key").chain(words.split(' '));
        Cli::try_parse_from(words).map(|cli| cli.args.action).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_is_a_tenants_unless_said_otherwise() {
        let Action::Create(args) = action("create --tenant acme").unwrap() else { panic!("not a create") };
        assert_eq!((args.scope, args.expires, args.rate.limit()), (Scope::Tenant, None, None));
        let words = "create --tenant acme --scope read-only --expires 2027-01-01 --concurrent-requests 2";
        let Action::Create(args) = action(words).unwrap() else { panic!("not a create") };
        assert_eq!(args.scope, Scope::ReadOnly);
        assert_eq!(args.expires.map(|at| at.to_string()), Some("2027-01-01T00:00:00Z".to_owned()));
        assert_eq!(args.rate.limit().unwrap().concurrent_requests, 2);
    }

    #[test]
    fn slips_are_told_with_what_there_is() {
        assert!(
            action("create --tenant a --scope root").unwrap_err().contains("there are tenant, read-only")
        );
        assert!(
            action("create --tenant a --expires soon").unwrap_err().contains("no time from now as in 90d")
        );
        assert!(action("create").unwrap_err().contains("--tenant <ID>"));
    }

    #[test]
    fn keys_are_shown_as_a_table_without_the_keys_themselves() {
        let key =
            v1::ApiKey { key_id: "k7f2".into(), scope: Scope::ReadOnly.into(), ..v1::ApiKey::default() };
        let expected = "\
KEY   SCOPE      NAME  CREATED (UTC)  LAST USED  EXPIRES  REVOKED  LIMITS
k7f2  read-only  -     -              -          -        -        -";
        assert_eq!(table(&[key]), expected);
        assert_eq!(table(&[]), "no key");
    }
}
