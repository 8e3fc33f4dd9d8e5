//! `signalbox encode`: the HTTP request that the adapter would send, without sending it.

mod place;

use super::{CommandError, environment, failures, json_layout, print, print_aside, read_text, today};
use place::Place;
use signalbox_api::{convert, json, v1};
use signalbox_kit::{catalog::Catalog, config};
use signalbox_pricing::Day;
use signalbox_types::{Failure, ModelRef};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};
use std::path::PathBuf;

const HELP: &str = "\
The request goes to standard output with its key masked; what had to be changed for the model, to standard error as
`# adjusted: FIELD: WHAT`. Nothing is sent.";

/// What to say, and to whom.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct EncodeArgs {
    /// The model, as in `openai/gpt-6-luna`
    #[arg(value_name = "VENDOR/MODEL")]
    model: ModelRef,
    /// File with a GenerateRequest as JSON; `-` for standard input
    request: String,
    /// Ask for a streamed answer
    #[arg(long)]
    stream: bool,
    /// Configuration file; the built-in catalogue without it
    #[arg(long, env = "SIGNALBOX_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Reads the request and prints what would be sent.
pub(crate) fn run(args: EncodeArgs) -> Result<(), CommandError> {
    let (env, day) = (environment(), today());
    let loaded = config::load(args.config.as_deref(), &env, day)
        .map_err(|errors| CommandError::new(format!("the configuration is not good\n{errors}")))?;
    let catalog = &loaded.catalog;
    let call = encoded(catalog, day, &args.model, &read_text(&args.request)?, args.stream)?;
    let place = Place::of(catalog, &env, &args.model)?;
    print(&shown(&place, &call))?;
    notes(&call).iter().try_for_each(|note| print_aside(note))
}

/// The call for a request in JSON.
fn encoded(
    catalog: &Catalog,
    day: Day,
    model: &ModelRef,
    request: &str,
    stream: bool,
) -> Result<EncodedCall, CommandError> {
    let wire: v1::GenerateRequest = json::from_json(request)
        .map_err(|error| CommandError::new(format!("the request is not a GenerateRequest: {error}")))?;
    let failed = |failure: Failure| failures::from_failure(&failure);
    let request = convert::generate_request_from_proto(wire).map_err(failed)?;
    let known = catalog.require(model, day).map_err(failed)?;
    let kind = place::kind(catalog, model)?;
    let context = EncodeContext { model: &model.model, facts: &known.facts, stream };
    codec_for(kind).encode(context, &request.prompt).map_err(failed)
}

/// The request as it goes over the wire, laid out for reading.
fn shown(place: &Place, call: &EncodedCall) -> String {
    let mut text = format!("POST {}{}\n", place.base_url, call.path);
    let fixed = [("content-type", "application/json"), ("accept", "*/*")];
    let fixed = fixed.map(|(name, value)| (name, value.to_owned()));
    for (name, value) in fixed.iter().chain(&place.credentials).chain(&call.headers) {
        text.push_str(&format!("{name}: {value}\n"));
    }
    text.push('\n');
    text.push_str(&json_layout::indented(&String::from_utf8_lossy(&call.body)));
    text
}

/// What a reader of the request should know besides.
fn notes(call: &EncodedCall) -> Vec<String> {
    let adjusted = call.adjustments.iter();
    let mut notes: Vec<String> =
        adjusted.map(|change| format!("# adjusted: {}: {}", change.field, change.description)).collect();
    let json_tool = call.json_tool.as_ref();
    notes.extend(
        json_tool.map(|name| format!("# the answer's JSON comes by a tool: decode --json-tool {name}")),
    );
    notes
}

#[cfg(test)]
mod tests;
