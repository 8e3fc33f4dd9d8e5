//! What was spent, asked of the usage service.

use signalbox_api::v1::{
    ListRequestsRequest, UsageEvent, UsageFilter, usage_service_client::UsageServiceClient,
};
use signalbox_kit::Hop;
use signalbox_ports::{Charged, SpentAway, SpentPage, SpentQuery, SpentRequest, SpentRequests};

/// Requests that a page has.
const PAGE: i32 = 1_000;

/// [`SpentRequests`] of the usage service, in this process or elsewhere.
#[derive(Debug, Clone)]
pub struct UsageOverHop(UsageServiceClient<Hop>);

impl UsageOverHop {
    /// Asks this service.
    pub fn new(client: UsageServiceClient<Hop>) -> Self {
        Self(client)
    }
}

#[async_trait::async_trait]
impl SpentRequests for UsageOverHop {
    async fn page(&self, query: &SpentQuery) -> Result<SpentPage, SpentAway> {
        let tenant_ids = Some(query.tenant_id.clone()).filter(|id| !id.is_empty()).into_iter().collect();
        let question = ListRequestsRequest {
            filter: Some(UsageFilter { tenant_ids, ..UsageFilter::default() }),
            request_id: query.request_id.clone().unwrap_or_default(),
            start_time: Some(query.from.into()),
            end_time: Some(query.until.into()),
            page_size: PAGE,
            page_token: query.page.clone().unwrap_or_default(),
        };
        let answer = self.0.clone().list_requests(question).await;
        let page = answer.map_err(|status| SpentAway(status.message().to_owned()))?.into_inner();
        let charged = page.events.iter().filter(|event| !event.charges.is_empty()).map(spent);
        let next = Some(page.next_page_token.clone()).filter(|token| !token.is_empty());
        Ok(SpentPage { requests: charged.collect(), next })
    }
}

fn spent(event: &UsageEvent) -> SpentRequest {
    let amount = Charged::of(event).nano_eur;
    let (known, is_known) = event.cost.as_ref().map_or((0, false), |cost| (cost.nano_eur, !cost.unknown));
    SpentRequest {
        tenant_id: event.tenant_id.clone(),
        request_id: event.request_id.clone(),
        budget_ids: event.charges.iter().map(|charge| charge.budget_id.clone()).collect(),
        amount,
        unknown: (!is_known).then(|| amount.saturating_sub(known)),
    }
}
