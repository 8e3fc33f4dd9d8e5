//! A request as it comes in: checked, named, and with its task's defaults.

use crate::budget::BudgetState;
use signalbox_api::{convert, v1};
use signalbox_kit::catalog::{Catalog, Hedge, TaskType};
use signalbox_quality::check_schema;
use signalbox_types::{Failure, GenerateRequest, ResponseFormat};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The router's own deadline is this much before the caller's, so that the caller hears what was tried.
const HEAD_START: Duration = Duration::from_millis(5);

/// A request that may be planned.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) request: GenerateRequest,
    /// Its task type was not named but found by its temperature.
    pub(crate) task_found: bool,
    /// The API key used; empty without authentication.
    pub(crate) key_id: String,
    /// What budgets and the tenant's rules leave.
    pub(crate) budget: BudgetState,
    /// `max_output_tokens` of the task type.
    pub(crate) task_max_output_tokens: Option<u32>,
    /// When the caller's time is over.
    pub(crate) deadline: Option<Instant>,
    /// Time for one attempt.
    pub(crate) attempt_timeout: Option<Duration>,
    /// Time to the first content of a streamed attempt.
    pub(crate) first_content_timeout: Option<Duration>,
    /// When a second model is asked beside a slow one.
    pub(crate) hedge: Option<Hedge>,
    /// Other models that may be asked after an answer that failed the gate.
    pub(crate) max_invalid_retries: u32,
}

/// Checks a request and fills in what its task type says. `grpc_timeout`: what the transport's deadline leaves.
pub(crate) fn admit(
    wire: v1::GenerateRequest,
    key_id: &str,
    grpc_timeout: Option<Duration>,
    catalog: &Catalog,
    now: Instant,
) -> Result<Admitted, Failure> {
    let mut request = convert::generate_request_from_proto(wire)?;
    check_schemas(&request)?;
    if request.request_id.is_empty() {
        request.request_id = Uuid::now_v7().to_string();
    }
    let task_found = request.task_type.is_empty();
    if let Some(task) = catalog.task_for(&request).filter(|_| task_found).map(str::to_owned) {
        request.task_type = task;
    }
    let mut admitted = Admitted {
        task_found: task_found && !request.task_type.is_empty(),
        request,
        key_id: key_id.to_owned(),
        budget: BudgetState::default(),
        task_max_output_tokens: None,
        deadline: None,
        attempt_timeout: None,
        first_content_timeout: None,
        hedge: None,
        max_invalid_retries: 1,
    };
    if let Some(task) = catalog.task_type(&admitted.request.task_type)? {
        admitted.apply(task);
    }
    let transport = grpc_timeout.map(|timeout| timeout.saturating_sub(HEAD_START.min(timeout / 4)));
    let timeout = [transport, admitted.request.timeout].into_iter().flatten().min();
    admitted.deadline = timeout.and_then(|timeout| now.checked_add(timeout));
    Ok(admitted)
}

impl Admitted {
    /// What the tenant says where the request says nothing, and where that says nothing either, the task type.
    pub(crate) fn default_to(&mut self, tenant: Option<&v1::Tenant>) {
        let request = &mut self.request;
        let tenants = tenant.and_then(|tenant| u32::try_from(tenant.default_max_output_tokens).ok());
        let default = tenants.filter(|tokens| *tokens > 0).or(self.task_max_output_tokens);
        request.prompt.max_output_tokens = request.prompt.max_output_tokens.or(default);
        if let Some(tenant) = tenant.filter(|_| request.locale.is_empty()) {
            request.locale.clone_from(&tenant.locale);
        }
    }

    /// What the task type says where the request says nothing.
    fn apply(&mut self, task: &TaskType) {
        let request = &mut self.request;
        let prompt = &mut request.prompt;
        prompt.sampling.temperature = prompt.sampling.temperature.or(task.temperature);
        prompt.reasoning_effort = prompt.reasoning_effort.or(task.reasoning_effort);
        request.required_capabilities = request.required_capabilities.union(task.required_capabilities);
        request.timeout = request.timeout.or(task.timeout);
        self.task_max_output_tokens = task.max_output_tokens;
        self.attempt_timeout = task.attempt_timeout;
        self.first_content_timeout = task.first_byte_timeout;
        self.hedge = task.hedge;
        self.max_invalid_retries = task.max_invalid_retries.unwrap_or(self.max_invalid_retries);
    }
}

/// A request that is to be answered at once would not cost what the batch lane costs.
pub(crate) fn refuse_batch(wire: &v1::GenerateRequest) -> Result<(), Failure> {
    if wire.lane() == v1::Lane::Batch {
        let problem = "LANE_BATCH is for items of jobs: hand it in by BatchService.SubmitBatchJob, or leave `lane` \
                       out to be answered at once";
        return Err(Failure::invalid("lane", problem));
    }
    Ok(())
}

fn check_schemas(request: &GenerateRequest) -> Result<(), Failure> {
    for (index, tool) in request.prompt.tools.iter().enumerate() {
        if let Some(schema) = &tool.parameters {
            let field = || format!("tools[{index}].parameters_schema");
            check_schema(schema).map_err(|problem| Failure::invalid(field(), problem))?;
        }
    }
    if let ResponseFormat::JsonSchema { schema, .. } = &request.prompt.response_format {
        let field = "response_format.json_schema.schema";
        check_schema(schema).map_err(|problem| Failure::invalid(field, problem))?;
    }
    Ok(())
}
