//! What came of a batch's items, with what each cost.

use super::{endpoint, key, vendor_of, words};
use crate::service::Dependencies;
use futures_util::{StreamExt as _, stream::BoxStream};
use signalbox_api::{convert, status::to_status, v1};
use signalbox_ports::{
    CallOutcome, CallRecord,
    vendor_batch::{ItemOutcome, ItemResult},
};
use signalbox_pricing::Day;
use signalbox_types::{Failure, Lane, ModelRef, TokenUsage, UsageSource};
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
            ItemOutcome::Answer(answer) => Outcome::Generate(v1::InvokeModelResponse {
                content: answer.parts.into_iter().map(convert::part_to_proto).collect(),
                finish_reason: convert::finish_reason_to_proto(answer.finish_reason) as i32,
                vendor_finish_reason: answer.vendor_finish_reason,
                facts: Some(self.answered(&key, answer.usage, answer.model, request_id)),
            }),
            ItemOutcome::Vectors(vectors) => Outcome::Embed(v1::InvokeEmbeddingResponse {
                facts: Some(self.answered(&key, vectors.usage, vectors.model, request_id)),
                embeddings: (vectors.embeddings.into_iter())
                    .map(|values| v1::EmbeddingVector { values })
                    .collect(),
            }),
            ItemOutcome::Failed(failure) => Outcome::Error(words::failed(failure)),
            ItemOutcome::Cancelled => Outcome::Error(words::cancelled()),
            ItemOutcome::Expired => Outcome::Error(words::expired()),
        };
        v1::StreamVendorBatchResultsResponse { item_key: key, outcome: Some(outcome) }
    }

    /// An answer at the batch price of the day. Where the vendor does not say what it used, its cost is unknown: the
    /// prompt that an estimate would need is not here.
    fn answered(&self, key: &str, usage: TokenUsage, model: String, request_id: String) -> v1::CallFacts {
        let catalog = self.dependencies.config.catalog();
        let day = Day::of(self.dependencies.clock.now());
        let known = usage.source != UsageSource::Unknown;
        let cost = catalog.prices().cost(&self.model, &usage, Lane::Batch, day).filter(|_| known);
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
            cost: Some(convert::cost_to_proto(cost, catalog.prices().price_version())),
            served_model: model,
            vendor_request_id: request_id,
            simulated: self.simulated,
            ..Default::default()
        }
    }
}
