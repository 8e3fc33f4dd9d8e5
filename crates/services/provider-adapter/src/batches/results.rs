//! What came of a batch's items, with what each cost.

use super::{endpoint, key, vendor_of, words};
use crate::service::Dependencies;
use futures_util::{StreamExt as _, stream::BoxStream};
use signalbox_api::{convert, status::to_status, v1};
use signalbox_ports::{
    CallOutcome, CallRecord,
    vendor_batch::{ItemOutcome, ItemResult},
};
use signalbox_pricing::{Day, SoFar, estimate_answer_tokens};
use signalbox_types::{
    Arrived, EmbeddingAnswer, Failure, Lane, ModelAnswer, ModelRef, Money, TokenUsage, UsageSource,
};
use tonic::Status;
use v1::stream_vendor_batch_results_response::Outcome;

/// Results as they are read from the vendor.
pub(crate) type Results = BoxStream<'static, Result<v1::StreamVendorBatchResultsResponse, Status>>;

/// What came of the items of a batch that has ended.
pub(crate) async fn results(
    dependencies: &Dependencies,
    request: v1::StreamVendorBatchResultsRequest,
) -> Result<Results, Failure> {
    let (vendor, model) = vendor_of(dependencies, request.target)?;
    let id = key::of_batch(&request.vendor_batch_id)?;
    let json_tools = request.json_tools.into_iter().collect();
    let results = endpoint(&*vendor)?.results(id, json_tools).await?;
    let teller = Teller::new(dependencies, model, vendor.simulated());
    Ok(results.map(move |result| result.map(|result| teller.tell(result)).map_err(|f| to_status(&f))).boxed())
}

/// What a vendor tells of an answer.
struct Told {
    usage: TokenUsage,
    answer_tokens: u64,
    model: String,
    request_id: String,
}

/// Says a result in the wire's words, and tells the metrics.
struct Teller {
    dependencies: Dependencies,
    model: ModelRef,
    /// The model as metrics name it: `vendor/*` where the catalogue does not list it.
    listed_as: ModelRef,
    simulated: bool,
}

impl Teller {
    fn new(dependencies: &Dependencies, model: ModelRef, simulated: bool) -> Self {
        let listed =
            dependencies.config.catalog().model(&model).is_some_and(|found| found.reference == model);
        let listed_as = if listed { model.clone() } else { ModelRef::new(model.vendor.clone(), "*") };
        Self { dependencies: dependencies.clone(), model, listed_as, simulated }
    }

    fn tell(&self, result: ItemResult) -> v1::StreamVendorBatchResultsResponse {
        let ItemResult { key, outcome, request_id } = result;
        let outcome = match outcome {
            ItemOutcome::Answer(ModelAnswer {
                parts,
                usage,
                model,
                finish_reason,
                vendor_finish_reason,
                ..
            }) => {
                let told = Told { usage, answer_tokens: estimate_answer_tokens(&parts), model, request_id };
                Outcome::Generate(v1::InvokeModelResponse {
                    content: parts.into_iter().map(convert::part_to_proto).collect(),
                    finish_reason: convert::finish_reason_to_proto(finish_reason) as i32,
                    vendor_finish_reason,
                    facts: Some(self.answered(&key, told)),
                })
            }
            ItemOutcome::Vectors(EmbeddingAnswer { usage, model, embeddings }) => {
                Outcome::Embed(v1::InvokeEmbeddingResponse {
                    facts: Some(self.answered(&key, Told { usage, answer_tokens: 0, model, request_id })),
                    embeddings: embeddings.into_iter().map(|values| v1::EmbeddingVector { values }).collect(),
                })
            }
            ItemOutcome::Failed(failure) => Outcome::Error(self.failed(failure)),
            ItemOutcome::Cancelled => Outcome::Error(words::cancelled()),
            ItemOutcome::Expired => Outcome::Error(words::expired()),
        };
        v1::StreamVendorBatchResultsResponse { item_key: key, outcome: Some(outcome) }
    }

    /// A failure, and what had come of an answer that cannot be used.
    fn failed(&self, failure: Failure) -> v1::BatchItemError {
        let arrived = failure.arrived.as_deref().copied();
        let mut error = words::failed(failure);
        error.failure = arrived.map(|Arrived { usage, answer_tokens }| {
            let mut so_far = SoFar::default();
            so_far.arrived(answer_tokens);
            usage.into_iter().for_each(|usage| so_far.reported(usage));
            let (usage, cost) = (so_far.used(), self.cost(&so_far.used()));
            let (usage, cost) = (Some(convert::usage_to_proto(&usage)), Some(self.cost_to_proto(cost)));
            let attempt = v1::Attempt { usage, cost, ..Default::default() };
            v1::RouteFailure { attempts: vec![attempt], ..Default::default() }
        });
        error
    }

    /// At the batch price of the day; unknown where only the answer is counted, by estimate: the prompt that more would
    /// need is not here.
    fn cost(&self, usage: &TokenUsage) -> Option<Money> {
        let day = Day::of(self.dependencies.clock.now());
        let known = usage.source == UsageSource::Vendor || usage.prompt_tokens() > 0;
        let cost = self.dependencies.config.catalog().prices().cost(&self.model, usage, Lane::Batch, day);
        cost.filter(|_| known)
    }

    fn cost_to_proto(&self, cost: Option<Money>) -> v1::Cost {
        convert::cost_to_proto(cost, self.dependencies.config.catalog().prices().price_version())
    }

    /// An answer of about so many tokens, which count where the vendor does not say what it used.
    fn answered(&self, key: &str, told: Told) -> v1::CallFacts {
        let Told { mut usage, answer_tokens, model, request_id } = told;
        if usage.source == UsageSource::Unknown {
            usage = SoFar::default().estimate(answer_tokens);
        }
        let cost = self.cost(&usage);
        self.dependencies.calls.record(CallRecord {
            request_id: key.to_owned(),
            tenant_id: String::new(),
            target: self.listed_as.clone(),
            outcome: CallOutcome::Answered,
            usage,
            cost,
            latency: None,
            time_to_first_token: None,
            simulated: self.simulated,
            probe: false,
        });
        v1::CallFacts {
            usage: Some(convert::usage_to_proto(&usage)),
            cost: Some(self.cost_to_proto(cost)),
            served_model: model,
            vendor_request_id: request_id,
            simulated: self.simulated,
            ..Default::default()
        }
    }
}
