//! The way of a request: record it, let a fault strike, ask the vendor, spoil the answer.

use crate::body::{Hangup, SimBody};
use crate::call::Call;
use crate::control;
use crate::fault::Fault;
use crate::problem::{Kind, Problem};
use crate::record::{Outcome, RecordedRequest, Recorder, Ticket};
use crate::reply::Reply;
use crate::rules::Rules;
use crate::seed::Seed;
use crate::spoil::spoil;
use crate::vendor::Vendor;
use crate::vendors;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Larger bodies are refused.
const BODY_LIMIT: usize = 64 << 20;
/// Asks for a fault in one request.
const FAULT_HEADER: &str = "x-vendorsim-fault";
/// Between a model's name and the fault it asks for.
const SUFFIX: char = '~';

/// What all requests share.
pub(crate) struct State {
    pub(crate) rules: Rules,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) delay: Duration,
    pub(crate) clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
}

/// Answers one request. An error closes the connection without a word.
pub(crate) async fn respond(state: &State, request: Request<Incoming>) -> Result<Response<SimBody>, Hangup> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => return Ok(too_large()),
        Err(_) => return Err(Hangup),
    };
    if let Some(path) = head.uri.path().strip_prefix("/_sim/") {
        return Ok(into_response(control::handle(state, &head.method, path, &body), &Fault::default(), None));
    }
    let Some((vendor, path)) = split_vendor(head.uri.path()) else {
        return Ok(into_response(Reply::whole(404, "text/plain", "no such vendor"), &Fault::default(), None));
    };
    let query = head.uri.query().unwrap_or("");
    let parsed = parse(&body);
    let named = vendors::model_of(vendor, path, parsed.as_ref().ok());
    let (model, suffix) = match named.split_once(SUFFIX) {
        Some((model, suffix)) => (model.to_owned(), Some(suffix.to_owned())),
        None => (named, None),
    };
    let header = head.headers.get(FAULT_HEADER).and_then(|value| value.to_str().ok());
    let fault = match header.or(suffix.as_deref()).map(Fault::parse) {
        Some(Ok(fault)) => fault,
        Some(Err(unknown)) => {
            return Ok(into_response(
                Reply::whole(400, "text/plain", unknown.to_string()),
                &Fault::default(),
                None,
            ));
        }
        None => {
            state.rules.strike(vendor, Some(model.as_str()).filter(|m| !m.is_empty())).unwrap_or_default()
        }
    };
    let ticket = state.recorder.record(RecordedRequest {
        id: 0,
        vendor,
        method: head.method.clone(),
        path: without_key(path, query),
        model: (!model.is_empty()).then(|| model.clone()),
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
        model,
        seed: Seed::of(&body),
        quirks: fault.quirks,
        now: (state.clock)(),
    };
    strike_then_answer(state, vendor, &call, &fault, ticket).await
}

async fn strike_then_answer(
    state: &State,
    vendor: Vendor,
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
        Some(refusal) => vendors::refuse(vendor, call, &refusal.problem()),
        None => vendors::answer(vendor, call),
    };
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

fn too_large() -> Response<SimBody> {
    let problem = Problem::new(Kind::TooLarge);
    let message = problem.message_or(|| format!("the simulator takes bodies up to {BODY_LIMIT} bytes"));
    into_response(Reply::whole(413, "text/plain", message), &Fault::default(), None)
}

/// The body as JSON; no body is `null`.
fn parse(body: &Bytes) -> Result<Value, String> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| format!("the body is not valid JSON: {error}"))
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
