//! The catalogue as a caller sees it.

use crate::service::Dependencies;
use signalbox_api::{
    convert::{capability_to_proto, tier_to_proto},
    status::to_status,
    v1,
};
use signalbox_kit::catalog::{Catalog, CatalogModel};
use signalbox_pricing::{Day, ModelStatus, Rate};
use signalbox_types::{ErrorReason, Failure, ModelRef, ModelSelector, shown};
use tonic::Status;

/// Models on a page when the caller does not say.
const PAGE: usize = 100;
/// Most bytes of a name, as for `GenerateRequest.model`.
const LONGEST_NAME: usize = 256;
/// Most models on a page.
const LARGEST_PAGE: usize = 1000;

pub(crate) fn list(
    dependencies: &Dependencies,
    request: &v1::ListModelsRequest,
) -> Result<v1::ListModelsResponse, Status> {
    let catalog = dependencies.config.catalog();
    let day = Day::of(dependencies.clock.now());
    let size = check(request, &catalog).map_err(|failure| to_status(&failure))?;
    let wanted = |model: &&CatalogModel| {
        let can = |capability: &i32| {
            model.facts.capabilities.iter().any(|has| capability_to_proto(has) as i32 == *capability)
        };
        let active = matches!(model.lifecycle.status_on(day), ModelStatus::Active | ModelStatus::Legacy);
        dependencies.vendors.has(&model.reference.vendor)
            && (request.vendor.is_empty() || *model.reference.vendor == *request.vendor)
            && request.capabilities.iter().all(can)
            && (request.show_inactive || active)
            && (request.page_token.is_empty() || model.reference.to_string() > request.page_token)
    };
    let mut models: Vec<&CatalogModel> = catalog.models().iter().filter(wanted).collect();
    models.sort_by_key(|model| model.reference.to_string());
    let more = models.len() > size;
    models.truncate(size);
    let next_page_token = match models.last() {
        Some(last) if more => last.reference.to_string(),
        _ => String::new(),
    };
    let models =
        models.into_iter().map(|model| describe(dependencies, &catalog, model, &model.reference, day));
    Ok(v1::ListModelsResponse { models: models.collect(), aliases: aliases(&catalog), next_page_token })
}

pub(crate) fn get(dependencies: &Dependencies, name: &str) -> Result<v1::GetModelResponse, Status> {
    let catalog = dependencies.config.catalog();
    let day = Day::of(dependencies.clock.now());
    find(dependencies, &catalog, name, day)
        .map(|model| v1::GetModelResponse { model: Some(model) })
        .map_err(|failure| to_status(&failure))
}

fn find(dependencies: &Dependencies, catalog: &Catalog, name: &str, day: Day) -> Result<v1::Model, Failure> {
    if name.len() > LONGEST_NAME {
        return Err(Failure::invalid("name", format!("has more than {LONGEST_NAME} bytes")));
    }
    let selector = name.parse().map_err(|problem: String| Failure::invalid("name", problem))?;
    if selector == ModelSelector::Unspecified {
        return Err(Failure::invalid("name", "is empty; write vendor/model or an alias"));
    }
    // A retired model is still described; a request for it is what fails.
    let targets = match &selector {
        ModelSelector::Exact(model) => std::slice::from_ref(model),
        _ => catalog.resolve(&selector, "", "", day).map_err(in_terms_of_name)?.preferred,
    };
    let usable = |target: &&ModelRef| catalog.served(target, day) && dependencies.vendors.has(&target.vendor);
    let chosen = targets.iter().find(usable).or_else(|| targets.first());
    chosen
        .and_then(|target| Some(describe(dependencies, catalog, catalog.model(target)?, target, day)))
        .ok_or_else(|| {
            Failure::new(ErrorReason::UnknownModel, format!("there is no model `{}`", shown(name)))
        })
}

/// The catalogue speaks of a request's `model`; here the field is `name`.
fn in_terms_of_name(mut failure: Failure) -> Failure {
    failure.violations.iter_mut().for_each(|violation| "name".clone_into(&mut violation.field));
    failure
}

/// Checks what is asked for; gives the size of the page.
fn check(request: &v1::ListModelsRequest, catalog: &Catalog) -> Result<usize, Failure> {
    if !request.vendor.is_empty() && catalog.vendor(&request.vendor).is_none() {
        return Err(Failure::invalid("vendor", "is not a vendor of the catalogue"));
    }
    let known =
        |value: &i32| v1::Capability::try_from(*value).is_ok_and(|it| it != v1::Capability::Unspecified);
    if let Some(index) = request.capabilities.iter().position(|value| !known(value)) {
        return Err(Failure::invalid(
            format!("capabilities[{index}]"),
            "is not a capability this version knows",
        ));
    }
    if !request.page_token.is_empty() && request.page_token.parse::<ModelRef>().is_err() {
        return Err(Failure::invalid("page_token", "is not a token that ListModels gave"));
    }
    page_size(request.page_size)
}

fn page_size(wanted: i32) -> Result<usize, Failure> {
    match usize::try_from(wanted) {
        Ok(0) => Ok(PAGE),
        Ok(size) => Ok(size.min(LARGEST_PAGE)),
        Err(_) => Err(Failure::invalid("page_size", "must not be negative")),
    }
}

fn aliases(catalog: &Catalog) -> Vec<v1::Alias> {
    let alias = |(name, alias): (&String, &signalbox_kit::catalog::Alias)| v1::Alias {
        name: name.clone(),
        description: alias.description.clone(),
        targets: alias.targets.iter().map(ToString::to_string).collect(),
    };
    catalog.aliases().iter().map(alias).collect()
}

fn describe(
    dependencies: &Dependencies,
    catalog: &Catalog,
    model: &CatalogModel,
    reference: &ModelRef,
    day: Day,
) -> v1::Model {
    let status = match model.lifecycle.status_on(day) {
        ModelStatus::Active => v1::model::Status::Active,
        ModelStatus::Legacy => v1::model::Status::Legacy,
        ModelStatus::Deprecated => v1::model::Status::Deprecated,
        ModelStatus::Retired => v1::model::Status::Retired,
    };
    v1::Model {
        name: reference.to_string(),
        vendor: reference.vendor.to_string(),
        vendor_kind: catalog
            .vendor(&reference.vendor)
            .map(|vendor| vendor.kind.name().to_owned())
            .unwrap_or_default(),
        capabilities: model.facts.capabilities.iter().map(|has| capability_to_proto(has) as i32).collect(),
        context_window: model.facts.context_window,
        max_output_tokens: model.facts.max_output_tokens,
        tier: model.tier.map_or(v1::Tier::Unspecified, tier_to_proto) as i32,
        pricing: pricing(catalog, reference, day),
        status: status as i32,
        shutdown_date: model.lifecycle.shutdown.map(|day| day.to_string()).unwrap_or_default(),
        successor: model.lifecycle.successor.as_ref().map(ToString::to_string).unwrap_or_default(),
        simulated: dependencies.vendors.simulated(&reference.vendor),
        labels: model.labels.iter().map(ToString::to_string).collect(),
    }
}

fn pricing(catalog: &Catalog, model: &ModelRef, day: Day) -> Option<v1::Pricing> {
    let prices = catalog.prices();
    let row = prices.prices(model)?.on(day)?;
    let rates = row.rates_for(0);
    let in_eur = |rate: Rate| prices.per_million(rate, day).unwrap_or_default().nano_eur();
    Some(v1::Pricing {
        input_nano_eur_per_mtok: in_eur(rates.input),
        cache_read_nano_eur_per_mtok: in_eur(rates.cache_read),
        cache_write_nano_eur_per_mtok: in_eur(rates.cache_write),
        output_nano_eur_per_mtok: in_eur(rates.output),
        price_version: prices.price_version().to_owned(),
        long_context_threshold_tokens: row.steps.iter().map(|step| step.threshold).min().unwrap_or(0),
    })
}
