//! How the items of a batch are answered: as if each had come alone.

use super::batch::Batch;
use super::item::{Answered, Item, ItemEnd};
use crate::call::Call;
use crate::fault::{Fault, Mishap};
use crate::pipeline::{State, split_suffix};
use crate::problem::{Kind, Problem};
use crate::reply::{Content, Reply};
use crate::rules::Place;
use crate::seed::Seed;
use crate::vendor::Vendor;
use crate::vendors;
use http::Method;

/// Brings every batch of a vendor to where it should be by now.
pub(crate) async fn settle(state: &State, vendor: Vendor) {
    while state.desk.lock().step(vendor, (state.clock)(), |batch, item| answer(state, batch, item)) {
        tokio::task::yield_now().await;
    }
}

/// What comes of an item.
fn answer(state: &State, batch: &Batch, item: &Item) -> ItemEnd {
    let (model, suffix) = split_suffix(&item.model);
    let fault = match suffix.map(Fault::parse) {
        Some(asked) => asked.unwrap_or_default(),
        None => {
            let named = Some(model).filter(|model| !model.is_empty());
            state.rules.strike(batch.vendor, named, Place::Item).unwrap_or_default()
        }
    };
    if fault.hang {
        return ItemEnd::Expired;
    }
    let call = Call {
        method: &Method::POST,
        path: &item.path,
        query: &batch.query,
        headers: &batch.headers,
        body: serde_json::from_slice(&item.body).map_err(|error| error.to_string()),
        raw: &item.body,
        model: model.to_owned(),
        seed: Seed::of_item(&item.id, &item.body),
        quirks: fault.quirks,
        now: (state.clock)(),
        in_batch: true,
    };
    let reply = match problem(&fault) {
        Some(problem) => vendors::refuse(batch.vendor, &call, &problem),
        None => vendors::answer(batch.vendor, &call),
    };
    ItemEnd::Answered(whole(batch.vendor, &call, reply))
}

/// The refusal that a fault asks for. What would break a connection is the vendor's own trouble here.
fn problem(fault: &Fault) -> Option<Problem> {
    let broken =
        fault.down || fault.malformed || matches!(fault.mishap, Some(Mishap::Cut(_) | Mishap::Stall(_)));
    match fault.refusal {
        Some(refusal) => Some(refusal.problem()),
        None => broken.then(|| Problem::new(Kind::Internal)),
    }
}

/// The response in one piece: nothing is streamed into a batch.
fn whole(vendor: Vendor, call: &Call<'_>, reply: Reply) -> Answered {
    let request_id = ["x-request-id", "request-id"].iter().find_map(|name| reply.headers.get(*name));
    let request_id = request_id.and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    match reply.content {
        Content::Whole(body) => Answered { status: reply.status.as_u16(), request_id, body },
        Content::Frames(_) => {
            let problem = Problem::field("stream", "Streaming is not supported in batches.");
            whole(vendor, call, vendors::refuse(vendor, call, &problem))
        }
    }
}
