//! The router says who may serve each item, as it would for a caller who waits.

use super::check::{Head, in_item};
use crate::{
    Dependencies,
    stored::{derived_id, new_id},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use signalbox_api::{
    status::from_status,
    v1::{
        self, PrepareBatchItemRequest, batch_item::Request as Asked, prepare_batch_item_request::Request,
        router_service_client::RouterServiceClient,
    },
};
use signalbox_kit::Hop;
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;
use tonic::Request as Call;

/// How long the router may take for one item; a moderation endpoint may be asked meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// An item that may be kept.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) item_id: String,
    pub(super) item: v1::PrepareBatchItemResponse,
}

impl Prepared {
    /// Whose scene it is.
    pub(super) fn scene(&self) -> &str {
        use v1::prepare_batch_item_response::Request;
        match &self.item.request {
            Some(Request::Generate(request)) => &request.scene,
            Some(Request::Embed(request)) => &request.scene,
            None => "",
        }
    }

    /// What it costs at most.
    pub(super) fn worst_case(&self) -> i64 {
        worst_case(&self.item)
    }
}

/// The most that one try of an item costs: at the dearest of those who may serve it, as far as that is known.
pub(crate) fn worst_case(item: &v1::PrepareBatchItemResponse) -> i64 {
    let costs = item.candidates.iter().filter_map(|candidate| candidate.worst_case.as_ref());
    costs.map(|cost| cost.nano_eur).max().unwrap_or_default()
}

/// Has all items prepared, in their order; the first that cannot be ends it.
pub(super) async fn prepare(
    dependencies: &Dependencies,
    head: &Head,
    items: Vec<v1::BatchItem>,
) -> Result<Vec<Prepared>, Failure> {
    let limit = dependencies.options.max_message_bytes;
    let router = RouterServiceClient::new(dependencies.router.clone())
        .max_decoding_message_size(limit)
        .max_encoding_message_size(limit);
    // A later job of the same name has requests of its own.
    let job = derived_id(&[&head.tenant_id, &head.job_id, &new_id()]);
    let key_id = head.key_id.clone();
    let call = move |item: v1::BatchItem| {
        let v1::BatchItem { item_id, request } = item;
        let request = request.map(|request| named(request, || derived_id(&[&job, &item_id])));
        prepare_one(router.clone(), item_id, PrepareBatchItemRequest { request, key_id: key_id.clone() })
    };
    stream::iter(items).map(call).buffered(dependencies.options.prepare_at_once).try_collect().await
}

async fn prepare_one(
    mut router: RouterServiceClient<Hop>,
    item_id: String,
    asked: PrepareBatchItemRequest,
) -> Result<Prepared, Failure> {
    let (within, names_model) = named_in(asked.request.as_ref());
    let mut call = Call::new(asked);
    call.set_timeout(PATIENCE);
    match router.prepare_batch_item(call).await {
        Ok(answer) => Ok(Prepared { item_id, item: answer.into_inner() }),
        Err(status) => {
            let failure = from_status(&status);
            let of_model = names_model && failure.reason == ErrorReason::UnknownModel;
            Err(of_item(&in_item(&item_id, within), of_model, failure))
        }
    }
}

/// The request with an id, which is made up where it has none.
fn named(request: Asked, made_up: impl FnOnce() -> String) -> Request {
    let fill = |request_id: &mut String| {
        if request_id.is_empty() {
            *request_id = made_up();
        }
    };
    match request {
        Asked::Generate(mut request) => {
            fill(&mut request.request_id);
            Request::Generate(request)
        }
        Asked::Embed(mut request) => {
            fill(&mut request.request_id);
            Request::Embed(request)
        }
    }
}

/// The field that holds a request, and whether it names a model.
fn named_in(request: Option<&Request>) -> (&'static str, bool) {
    match request {
        Some(Request::Generate(request)) => ("generate", !request.model.is_empty()),
        Some(Request::Embed(request)) => ("embed", !request.model.is_empty()),
        None => ("request", false),
    }
}

/// The failure with the item whose it is, and the field where one is meant.
fn of_item(place: &str, of_model: bool, mut failure: Failure) -> Failure {
    let field = match failure.violations.first() {
        // The message begins with the field.
        Some(first) if failure.message.starts_with(&first.field) => ".".to_owned(),
        Some(first) => format!(".{}: ", first.field),
        None if of_model => ".model: ".to_owned(),
        None => ": ".to_owned(),
    };
    failure.message = format!("{place}{field}{}", failure.message);
    for violation in &mut failure.violations {
        violation.field = format!("{place}.{}", violation.field);
    }
    failure
}
