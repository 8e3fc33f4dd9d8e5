//! The way of a request: record it, let a fault strike, ask the vendor, spoil the answer.

use crate::batches::{self, Desk};
use crate::body::{Hangup, SimBody};
use crate::call::Call;
use crate::control;
use crate::fault::{Fault, UnknownFault};
use crate::problem::Problem;
use crate::record::{Outcome, RecordedRequest, Recorder, Ticket};
use crate::reply::Reply;
use crate::rules::{Place, Rules};
use crate::seed::Seed;
use crate::spoil::spoil;
use crate::vendor::Vendor;
use crate::vendors;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Larger bodies are refused. Whole batches may be larger than single requests.
const BODY_LIMIT: usize = 64 << 20;
const BATCH_BODY_LIMIT: usize = 257 << 20;
/// Asks for a fault in one request.
const FAULT_HEADER: &str = "x-vendorsim-fault";
/// Between a model's name and the fault it asks for.
const SUFFIX: char = '~';

/// What all requests share.
pub(crate) struct State {
    pub(crate) rules: Rules,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) desk: Desk,
    pub(crate) delay: Duration,
    pub(crate) clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
}

/// Answers one request. An error closes the connection without a word.
pub(crate) async fn respond(state: &State, request: Request<Incoming>) -> Result<Response<SimBody>, Hangup> {
    let (head, body) = request.into_parts();
    let addressed = split_vendor(head.uri.path());
    let place = addressed.map_or(Place::Call, |(vendor, path)| vendors::place_of(vendor, &head.method, path));
    let limit = if place == Place::Call { BODY_LIMIT } else { BATCH_BODY_LIMIT };
    let body = match Limited::new(body, limit).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return Ok(plainly(413, format!("the simulator takes bodies up to {limit} bytes")));
        }
        Err(_) => return Err(Hangup),
    };
    if let Some(path) = head.uri.path().strip_prefix("/_sim/") {
        let reply = control::handle(state, &head.method, path, &body);
        return Ok(into_response(reply, &Fault::default(), None));
    }
    match addressed {
        Some((vendor, path)) => ask_vendor(state, Target { vendor, path, place }, &head, body).await,
        None => Ok(plainly(404, "no such vendor".to_owned())),
    }
}

/// Where a request goes.
#[derive(Debug, Clone, Copy)]
struct Target<'a> {
    vendor: Vendor,
    /// Path below the vendor's prefix.
    path: &'a str,
    place: Place,
}

async fn ask_vendor(
    state: &State,
    target: Target<'_>,
    head: &Parts,
    body: Bytes,
) -> Result<Response<SimBody>, Hangup> {
    let Target { vendor, path, .. } = target;
    let parsed = parse(&body);
    let named = vendors::model_of(vendor, path, parsed.as_ref().ok());
    let (model, suffix) = split_suffix(&named);
    let mut fault = match choose_fault(state, target, model, &head.headers, suffix) {
        Ok(fault) => fault,
        Err(unknown) => return Ok(plainly(400, unknown.to_string())),
    };
    let query = head.uri.query().unwrap_or("");
    let seed = Seed::of(&body);
    let ticket = state.recorder.record(RecordedRequest {
        id: 0,
        vendor,
        method: head.method.clone(),
        path: without_key(path, query),
        model: (!model.is_empty()).then(|| model.to_owned()),
        headers: head.headers.clone(),
        body: body.clone(),
        fault: (!fault.spec().is_empty()).then(|| fault.spec().to_owned()),
        status: None,
        outcome: Outcome::Pending,
    });
    let call = Call {
        method: &head.method,
        path,
        query,
        headers: &head.headers,
        body: parsed,
        raw: &body,
        model: model.to_owned(),
        seed,
        quirks: fault.quirks,
        now: (state.clock)(),
        in_batch: false,
    };
    fault.heard = fault.echo.then(|| call.credentials()).flatten();
    strike_then_answer(state, target, &call, &fault, ticket).await
}

/// The header goes before the suffix, and the suffix before the rules. With batches a model stands for its items.
fn choose_fault(
    state: &State,
    target: Target<'_>,
    model: &str,
    headers: &HeaderMap,
    suffix: Option<&str>,
) -> Result<Fault, UnknownFault> {
    let header = headers.get(FAULT_HEADER).and_then(|value| value.to_str().ok());
    let plain = target.place == Place::Call;
    match header.or_else(|| suffix.filter(|_| plain)) {
        Some(spec) => Fault::parse(spec),
        None => {
            let model = Some(model).filter(|model| plain && !model.is_empty());
            Ok(state.rules.strike(target.vendor, model, target.place).unwrap_or_default())
        }
    }
}

async fn strike_then_answer(
    state: &State,
    Target { vendor, place, .. }: Target<'_>,
    call: &Call<'_>,
    fault: &Fault,
    ticket: Ticket,
) -> Result<Response<SimBody>, Hangup> {
    if fault.down {
        ticket.answered();
        return Err(Hangup);
    }
    if fault.hang {
        // Until the client goes away, which drops this future and the ticket with it.
        std::future::pending::<()>().await;
    }
    let delay = state.delay + fault.delay;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let reply = match fault.refusal {
        Some(refusal) => {
            let message = fault.heard.clone();
            vendors::refuse(vendor, call, &Problem { message, ..refusal.problem() })
        }
        None if place == Place::Call => vendors::answer(vendor, call),
        None => {
            batches::settle(state, vendor).await;
            vendors::answer_batch(vendor, call, &mut state.desk.lock(), fault.plan)
        }
    };
    if fault.lost {
        ticket.answered();
        return Err(Hangup);
    }
    ticket.status(reply.status.as_u16());
    Ok(into_response(reply, fault, Some(ticket)))
}

fn into_response(reply: Reply, fault: &Fault, ticket: Option<Ticket>) -> Response<SimBody> {
    let mut body = spoil(reply.content, fault);
    if let Some(ticket) = ticket {
        body = body.reporting(ticket);
    }
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

/// An answer of the simulator itself.
fn plainly(status: u16, message: String) -> Response<SimBody> {
    into_response(Reply::whole(status, "text/plain", message), &Fault::default(), None)
}

/// The body as JSON; no body is `null`.
fn parse(body: &Bytes) -> Result<Value, String> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| format!("the body is not valid JSON: {error}"))
}

/// A model's name, and the fault that its suffix asks for.
pub(crate) fn split_suffix(named: &str) -> (&str, Option<&str>) {
    named.split_once(SUFFIX).map_or((named, None), |(model, spec)| (model, Some(spec)))
}

fn split_vendor(path: &str) -> Option<(Vendor, &str)> {
    let path = path.strip_prefix('/')?;
    let (name, _) = path.split_once('/').unwrap_or((path, ""));
    Some((name.parse().ok()?, &path[name.len()..]))
}

/// Path and query, without Gemini's `key` parameter.
fn without_key(path: &str, query: &str) -> String {
    let kept: Vec<&str> =
        query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("key=")).collect();
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}
