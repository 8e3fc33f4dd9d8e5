//! `signalbox models`: what a server can call, and what it costs.

mod listing;

use super::{
    CommandError,
    connect::{ServerArgs, Way},
    failures, pages, print,
};
use signalbox_api::{convert::capability_to_proto, json, v1};
use signalbox_types::Capability;
use v1::router_service_client::RouterServiceClient;

/// Which models to list.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelsArgs {
    /// Only models of this vendor entry
    #[arg(long)]
    vendor: Option<String>,
    /// Only models that can do this, as in `tools`; may be given several times
    #[arg(long = "capability", value_name = "CAPABILITY", value_parser = capability)]
    capabilities: Vec<Capability>,
    /// Also models that are deprecated or no longer served
    #[arg(long)]
    all: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks the server for its models and prints them.
pub(crate) async fn run(args: ModelsArgs) -> Result<(), CommandError> {
    let mut client = args.server.router().await?;
    let found = every_page(&mut client, &args).await?;
    print(&if args.json { json::to_json(&found)? } else { listing::listing(&found) })
}

fn capability(name: &str) -> Result<Capability, String> {
    let wanted = name.replace('-', "_");
    let known = Capability::ALL.into_iter().find(|capability| capability.name() == wanted);
    known.ok_or_else(|| format!("there are {}", Capability::ALL.map(Capability::name).join(", ")))
}

async fn every_page(
    client: &mut RouterServiceClient<Way>,
    args: &ModelsArgs,
) -> Result<v1::ListModelsResponse, CommandError> {
    let capabilities = args.capabilities.iter().map(|wanted| capability_to_proto(*wanted) as i32);
    let asked = v1::ListModelsRequest {
        vendor: args.vendor.clone().unwrap_or_default(),
        capabilities: capabilities.collect(),
        show_inactive: args.all,
        ..Default::default()
    };
    let mut aliases = Vec::new();
    let models = pages::all(async |page_size, page_token| {
        let request = v1::ListModelsRequest { page_size, page_token, ..asked.clone() };
        let answer = client.list_models(request).await;
        let page = answer.map_err(|status| failures::from_call(&status))?.into_inner();
        aliases = page.aliases;
        Ok((page.models, page.next_page_token))
    });
    Ok(v1::ListModelsResponse { models: models.await?, aliases, next_page_token: String::new() })
}
