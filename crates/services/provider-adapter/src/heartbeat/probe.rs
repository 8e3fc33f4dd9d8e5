//! One heartbeat.

use super::{ProbeAccount, paid};
use crate::{call::Call, meter::Meter, service::Dependencies, stream::MeteredStream};
use futures_util::StreamExt as _;
use http::HeaderMap;
use prometheus::IntCounterVec;
use signalbox_api::status::from_status;
use signalbox_kit::{
    config::HeartbeatConfig,
    telemetry::{metrics, trace::Span},
};
use signalbox_types::{
    Failure, GenerateRequest, Message, ModelFacts, ModelRef, ModelSelector, OpenAiEndpoint, Part, Prompt,
    ReasoningEffort, ReasoningStyle, Role,
};
use std::sync::LazyLock;

/// Who pays for heartbeats.
const TENANT: &str = "signalbox";
/// The fewest output tokens that OpenAI's responses endpoint takes.
const LEAST_OF_RESPONSES: u32 = 16;

static HEARTBEATS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_heartbeats_total",
        "Small calls that look whether a vendor answers, by result: ok, or the error's reason.",
        &["vendor", "result"],
    )
});

pub(super) fn register_metrics() {
    LazyLock::force(&HEARTBEATS);
}

/// Asks a model for next to nothing, to the end of its answer. Health and accounts hear of it as of any call.
pub(super) async fn probe(
    dependencies: Dependencies,
    model: ModelRef,
    settings: HeartbeatConfig,
) -> (ModelRef, Result<(), Failure>) {
    let outcome = ask(&dependencies, &model, &settings).await;
    let result = outcome.as_ref().map_or_else(|failure| failure.reason.name(), |()| "ok");
    HEARTBEATS.with_label_values(&[&*model.vendor, result]).inc();
    (model, outcome)
}

async fn ask(
    dependencies: &Dependencies,
    model: &ModelRef,
    settings: &HeartbeatConfig,
) -> Result<(), Failure> {
    let call = Call::probe(dependencies, model, settings.timeout.0, |facts| {
        request(model, facts, settings.max_output_tokens)
    })?;
    let span = Span::server("signalbox.heartbeat", &HeaderMap::new());
    let paid = paid::reserve(dependencies, &call).await?;
    let account = ProbeAccount::open(dependencies, &call, paid)?;
    let meter = Meter::start(dependencies, &call, &span).accounted(account);
    let reply = call.vendor.stream(call.target(), &call.request.prompt).await;
    let mut answer = match reply {
        Ok(reply) => MeteredStream::new(reply, meter, None, false),
        Err(failure) => {
            let _told = meter.fail(&failure, None);
            return Err(failure);
        }
    };
    while let Some(event) = answer.next().await {
        event.map_err(|status| from_status(&status))?;
    }
    Ok(())
}

fn request(model: &ModelRef, facts: &ModelFacts, max_output_tokens: u32) -> GenerateRequest {
    // Where it is not asked to think little, a model may think before the one token that is wanted.
    let thinks = facts.parameters.reasoning != ReasoningStyle::Unsupported;
    let prompt = Prompt {
        messages: vec![Message { role: Role::User, parts: vec![Part::text("ping")] }],
        max_output_tokens: Some(output_tokens(facts, max_output_tokens)),
        reasoning_effort: thinks.then_some(ReasoningEffort::None),
        ..Prompt::default()
    };
    GenerateRequest {
        request_id: format!("heartbeat-{}", model.vendor),
        tenant_id: TENANT.to_owned(),
        model: ModelSelector::Exact(model.clone()),
        prompt,
        ..GenerateRequest::default()
    }
}

/// As few tokens as wanted, or the vendor's least.
pub(super) fn output_tokens(facts: &ModelFacts, wanted: u32) -> u32 {
    match facts.parameters.openai_endpoint {
        OpenAiEndpoint::Responses => wanted.max(LEAST_OF_RESPONSES),
        OpenAiEndpoint::Chat | OpenAiEndpoint::ResponsesForTools => wanted,
    }
}
