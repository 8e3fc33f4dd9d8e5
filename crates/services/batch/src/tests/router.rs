//! A router that prepares items by the model they name.

use futures_util::stream;
use signalbox_api::{
    status::to_status,
    v1::{
        self, CandidateEstimate, Cost, Lane, PrepareBatchItemRequest, PrepareBatchItemResponse,
        prepare_batch_item_request::Request as Asked, prepare_batch_item_response::Request as Prepared,
        router_service_server::RouterService,
    },
};
use signalbox_types::{ErrorReason, Failure};
use tonic::{Request, Response, Status};

/// What one try of an item costs at most.
pub(super) const WORST: i64 = 100;

/// `two`: by the batch endpoints of a, then b. `one`: of a alone. `usual`: as usual at c. `nobody`: refused.
#[derive(Debug)]
pub(super) struct PreparingRouter;

fn candidates(vendors: &[&str]) -> Vec<CandidateEstimate> {
    let worst_case = Some(Cost { nano_eur: WORST, ..Default::default() });
    let candidate = |vendor: &&str| CandidateEstimate {
        vendor: (*vendor).to_owned(),
        model: "m".into(),
        worst_case: worst_case.clone(),
        ..Default::default()
    };
    vendors.iter().map(candidate).collect()
}

fn prepare(asked: PrepareBatchItemRequest) -> Result<PrepareBatchItemResponse, Status> {
    let (model, request) = match asked.request.unwrap() {
        Asked::Generate(request) => (request.model.clone(), Prepared::Generate(request)),
        Asked::Embed(request) => (request.model.clone(), Prepared::Embed(request)),
    };
    let (lane, vendors): (_, &[&str]) = match &*model {
        "two" => (Lane::Batch, &["a", "b"]),
        "one" => (Lane::Batch, &["a"]),
        "usual" => (Lane::Interactive, &["c"]),
        _ => {
            // As the catalogue says it: the field, and a message without.
            let told = format!("there is no `{model}`");
            let violations = Failure::invalid("model", &*told).violations;
            let failure = Failure { violations, ..Failure::new(ErrorReason::UnknownModel, told) };
            return Err(to_status(&failure));
        }
    };
    Ok(PrepareBatchItemResponse {
        request: Some(request),
        lane: lane.into(),
        candidates: candidates(vendors),
        decision: Some(v1::Decision { requested: format!("alias:{model}"), ..Default::default() }),
        max_invalid_retries: 1,
        ..Default::default()
    })
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl RouterService for PreparingRouter {
    type StreamGenerateStream = stream::Empty<Result<v1::StreamGenerateResponse, Status>>;

    async fn prepare_batch_item(
        &self,
        asked: Request<PrepareBatchItemRequest>,
    ) -> Answer<PrepareBatchItemResponse> {
        prepare(asked.into_inner()).map(Response::new)
    }

    async fn generate(&self, _: Request<v1::GenerateRequest>) -> Answer<v1::GenerateResponse> {
        Err(Status::unimplemented("Generate"))
    }

    async fn stream_generate(
        &self,
        _: Request<v1::StreamGenerateRequest>,
    ) -> Answer<Self::StreamGenerateStream> {
        Err(Status::unimplemented("StreamGenerate"))
    }

    async fn estimate_cost(&self, _: Request<v1::EstimateCostRequest>) -> Answer<v1::EstimateCostResponse> {
        Err(Status::unimplemented("EstimateCost"))
    }

    async fn explain_route(&self, _: Request<v1::ExplainRouteRequest>) -> Answer<v1::ExplainRouteResponse> {
        Err(Status::unimplemented("ExplainRoute"))
    }

    async fn embed(&self, _: Request<v1::EmbedRequest>) -> Answer<v1::EmbedResponse> {
        Err(Status::unimplemented("Embed"))
    }

    async fn list_models(&self, _: Request<v1::ListModelsRequest>) -> Answer<v1::ListModelsResponse> {
        Err(Status::unimplemented("ListModels"))
    }

    async fn get_model(&self, _: Request<v1::GetModelRequest>) -> Answer<v1::GetModelResponse> {
        Err(Status::unimplemented("GetModel"))
    }
}
