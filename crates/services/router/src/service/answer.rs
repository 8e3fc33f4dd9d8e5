//! Attempts at a request, up to an answer or to the beginning of one.

use super::Router;
use crate::{
    attempts::{Call, Run, first_content},
    cache::Answered,
    stream::{Begun, is_news_of_usage},
};
use signalbox_api::{
    status::to_status,
    v1::{self, provider_service_client::ProviderServiceClient},
};
use signalbox_kit::{Hop, content::Withheld};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;
use tonic::Status;

impl Router {
    /// Makes attempts until one has given a whole answer that may be passed on.
    pub(super) async fn answer(&self, mut run: Run) -> Result<v1::GenerateResponse, Status> {
        loop {
            let call;
            (run, call) = run.start().await?;
            match self.adapter.clone().invoke_model(call.request).await {
                Ok(answer) => {
                    let mut answer = answer.into_inner();
                    match release(&mut run, &mut answer).await {
                        Ok(()) => return Ok(whole_answer(run, answer)),
                        Err(Withheld::Refused(failure)) => return Err(run.refused(&failure, answer.facts)),
                        Err(Withheld::Invalid(failure)) => {
                            let (finish, facts) = (answer.finish_reason(), answer.facts.unwrap_or_default());
                            run = run.after_invalid(failure, finish, facts).await?;
                        }
                    }
                }
                Err(status) => run = run.after(status).await?,
            }
        }
    }

    /// Makes attempts until one has sent its first event. Before that nothing has reached the client.
    pub(super) async fn commit(&self, mut run: Run) -> Result<(Begun, Run), Status> {
        let limit = run.first_content_timeout;
        let open = |call| open(self.adapter.clone(), call, limit);
        loop {
            let call;
            (run, call) = run.start().await?;
            match first_content(&mut run, call, open).await {
                Ok(begun) => return Ok((begun, run)),
                Err(status) => run = run.after(status).await?,
            }
        }
    }
}

/// The adapter gives up a silent vendor by itself, and counts that; one that says nothing for this much longer is given
/// up in turn.
const ADAPTER_MARGIN: Duration = Duration::from_millis(100);

/// Starts a streamed attempt and waits for its first content, for as long as the task type allows.
async fn open(
    adapter: ProviderServiceClient<Hop>,
    call: Call,
    limit: Option<Duration>,
) -> Result<Begun, Status> {
    let first = first_event(adapter, call);
    let Some(limit) = limit else { return first.await };
    tokio::time::timeout(limit + ADAPTER_MARGIN, first).await.unwrap_or_else(|_| {
        let message =
            format!("no content came within {} ms (first_byte_timeout of the task type)", limit.as_millis());
        Err(to_status(&Failure::new(ErrorReason::VendorTimeout, message)))
    })
}

async fn first_event(mut adapter: ProviderServiceClient<Hop>, call: Call) -> Result<Begun, Status> {
    let Call { request, seen } = call;
    let request = request.map(|request| v1::StreamInvokeModelRequest { request: Some(request) });
    let mut events = adapter.stream_invoke_model(request).await?.into_inner();
    while let Some(message) = events.message().await? {
        let Some(first) = message.event else { continue };
        seen.event(&first);
        if !is_news_of_usage(&first) {
            return Ok(Begun { first, events, seen });
        }
    }
    Err(to_status(&Failure::new(ErrorReason::StreamTruncated, "the adapter's stream ended before it began")))
}

/// Lets an answer out that the tenant's content policy allows, and that is what was asked for.
async fn release(run: &mut Run, answer: &mut v1::InvokeModelResponse) -> Result<(), Withheld> {
    let finish = answer.finish_reason();
    let Some(mut content) = run.take_content() else {
        let checked = run.gate().map_or(Ok(()), |gate| gate.check(&mut answer.content, finish));
        return checked.map_err(Withheld::Invalid);
    };
    let released = content.release(&mut answer.content, run.gate(), finish).await;
    run.keep_content(content);
    released
}

fn whole_answer(run: Run, answer: v1::InvokeModelResponse) -> v1::GenerateResponse {
    let finish_reason = answer.finish_reason();
    let (request_id, mut served) = run.served(answer.facts.unwrap_or_default(), answer.finish_reason);
    served.keep(|| Answered {
        content: answer.content.clone(),
        finish_reason,
        vendor_finish_reason: answer.vendor_finish_reason.clone(),
    });
    v1::GenerateResponse {
        request_id,
        content: answer.content,
        finish_reason: answer.finish_reason,
        vendor_finish_reason: answer.vendor_finish_reason,
        usage: Some(served.usage),
        cost: Some(served.cost),
        route: Some(served.route),
    }
}
