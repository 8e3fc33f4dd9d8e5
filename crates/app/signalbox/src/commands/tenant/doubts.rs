//! What of a tenant's rules fits no model of the server's catalogue: a slip most likely, but a catalogue may grow.

use crate::commands::{connect::ServerArgs, pages, print_aside};
use signalbox_api::v1::{self, Tenant};
use std::collections::BTreeSet;

/// Says what of the fields just written fits nothing. Silent where the server has no catalogue to ask.
pub(super) async fn tell(server: &ServerArgs, tenant: &Tenant, written: &[String]) {
    if !written.iter().any(|field| field == "allowed_models" || field == "required_vendor_labels") {
        return;
    }
    let Some(catalogue) = catalogue(server).await else { return };
    for doubt in doubts(tenant, &catalogue) {
        // Whoever closed the standard error wants to hear of nothing.
        let _told = print_aside(&doubt);
    }
}

async fn catalogue(server: &ServerArgs) -> Option<v1::ListModelsResponse> {
    let mut client = server.router().await.ok()?;
    let mut aliases = Vec::new();
    let models = pages::all(async |page_size, page_token| {
        let request = v1::ListModelsRequest { page_size, page_token, ..v1::ListModelsRequest::default() };
        let page = client.list_models(request).await.map_err(super::failed)?.into_inner();
        aliases = page.aliases;
        Ok((page.models, page.next_page_token))
    });
    Some(v1::ListModelsResponse { models: models.await.ok()?, aliases, next_page_token: String::new() })
}

fn doubts(tenant: &Tenant, catalogue: &v1::ListModelsResponse) -> Vec<String> {
    let v1::ListModelsResponse { models, aliases, .. } = catalogue;
    let is_known = |allowed: &str| {
        aliases.iter().any(|alias| alias.name == allowed)
            || models.iter().any(|model| names(allowed, &model.name))
    };
    let unknown = tenant.allowed_models.iter().filter(|allowed| !is_known(allowed)).map(|allowed| {
        format!("warning: `{allowed}` allows no model of this server's catalogue; see `signalbox models`")
    });
    let labels: BTreeSet<&str> = models.iter().flat_map(|model| &model.labels).map(String::as_str).collect();
    let there_are = match labels.len() {
        0 => "none has any".to_owned(),
        _ => format!("there are {}", labels.iter().copied().collect::<Vec<_>>().join(", ")),
    };
    let missing = tenant.required_vendor_labels.iter().filter(|label| !labels.contains(label.as_str()));
    let missing = missing.map(|label| {
        format!("warning: no model carries the label `{label}`, so none may be called: {there_are}")
    });
    unknown.chain(missing).collect()
}

/// Whether `vendor/model`, `vendor/prefix*` or `*` names a model.
fn names(pattern: &str, model: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == model, |start| model.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(allowed: &[&str], labels: &[&str]) -> Vec<String> {
        let model = |name: &str, label: &str| v1::Model {
            name: name.into(),
            labels: vec![label.into()],
            ..v1::Model::default()
        };
        let catalogue = v1::ListModelsResponse {
            models: vec![model("openai/gpt-6-luna", "eu"), model("ollama/llama3.2:3b", "own")],
            aliases: vec![v1::Alias { name: "fast".into(), ..v1::Alias::default() }],
            ..v1::ListModelsResponse::default()
        };
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let tenant = Tenant {
            allowed_models: owned(allowed),
            required_vendor_labels: owned(labels),
            ..Tenant::default()
        };
        doubts(&tenant, &catalogue)
    }

    #[test]
    fn what_fits_a_model_of_the_catalogue_is_not_doubted() {
        let allowed = ["openai/*", "openai/gpt-6*", "ollama/llama3.2:3b", "fast", "*"];
        assert_eq!(told(&allowed, &["eu", "own"]), [""; 0]);
    }

    #[test]
    fn a_slip_is_told_with_what_there_is() {
        let [models, label] = &*told(&["opneai/*", "fast"], &["europ"]) else { panic!("not two") };
        assert!(models.contains("`opneai/*` allows no model"), "{models}");
        assert!(label.contains("`europ`") && label.ends_with("there are eu, own"), "{label}");
    }
}
