//! What was captured, and what it is.

use super::{CommandError, DecodeArgs};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, path::Path};

/// A response of a vendor.
#[derive(Debug)]
pub(super) struct Captured {
    pub(super) kept: Kept,
    pub(super) body: Vec<u8>,
}

/// What a body is.
#[derive(Debug)]
pub(super) enum Kept {
    /// A whole answer.
    Answer,
    /// A streamed answer.
    Stream,
    /// A failure.
    Failure { status: u16, headers: HeaderMap },
}

impl Kept {
    /// What a body is that came with `status`.
    fn with(status: u16, headers: HeaderMap) -> Self {
        if (200..300).contains(&status) { Self::Answer } else { Self::Failure { status, headers } }
    }
}

/// What the file holds, by the options, its name and its form.
pub(super) fn read(args: &DecodeArgs, bytes: Vec<u8>) -> Result<Captured, CommandError> {
    if let Some(status) = args.status {
        return Ok(Captured { kept: Kept::with(status, HeaderMap::new()), body: bytes });
    }
    let extension = Path::new(&args.file).extension().and_then(|extension| extension.to_str());
    if args.stream || matches!(extension, Some("sse" | "ndjson")) {
        return Ok(Captured { kept: Kept::Stream, body: bytes });
    }
    match recorded(&bytes) {
        Some(outcome) => outcome.map_err(|problem| CommandError::new(format!("{}: {problem}", args.file))),
        None => Ok(Captured { kept: Kept::Answer, body: bytes }),
    }
}

/// A response that was recorded with its status and headers; `None` where it is something else.
fn recorded(bytes: &[u8]) -> Option<Result<Captured, String>> {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(bytes).ok()?;
    let status = fields.get("status")?;
    let headers = fields.get("headers");
    // A body of some vendors has a `status` too, which is a word.
    if headers.is_none() && serde_json::from_str::<u64>(status.get()).is_err() {
        return None;
    }
    let body = match (fields.get("body_text"), fields.get("body")) {
        (Some(text), _) => serde_json::from_str::<String>(text.get()).ok()?.into_bytes(),
        (None, Some(body)) => body.get().as_bytes().to_vec(),
        (None, None) => return None,
    };
    Some(response(status, headers.map(|headers| headers.get()), body))
}

fn response(status: &RawValue, headers: Option<&str>, body: Vec<u8>) -> Result<Captured, String> {
    let status: u16 = serde_json::from_str(status.get())
        .map_err(|_| format!("status: {} is not an HTTP status", status.get()))?;
    let headers: BTreeMap<String, String> = serde_json::from_str(headers.unwrap_or("{}"))
        .map_err(|error| format!("headers: must be texts by name: {error}"))?;
    let headers = headers.iter().map(header).collect::<Result<HeaderMap, String>>()?;
    Ok(Captured { kept: Kept::with(status, headers), body })
}

fn header((name, value): (&String, &String)) -> Result<(HeaderName, HeaderValue), String> {
    match (name.parse(), value.parse()) {
        (Ok(name), Ok(value)) => Ok((name, value)),
        _ => Err(format!("headers.{name}: is not a header")),
    }
}
