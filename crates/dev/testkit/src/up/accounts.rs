//! Accounts as an operator asks for them.

use crate::Signalbox;
use signalbox_api::v1::{
    ListRequestsRequest, UsageEvent, UsageFilter, usage_service_client::UsageServiceClient,
};
use std::time::SystemTime;

/// Events on a page.
const PAGE: i32 = 500;

/// Those that began at this time or later, oldest first; as many as there are by now.
pub(super) async fn since(ingester: &Signalbox, time: SystemTime) -> Vec<UsageEvent> {
    let mut client = UsageServiceClient::new(ingester.channel());
    let mut question = ListRequestsRequest {
        filter: Some(UsageFilter::default()),
        start_time: Some(time.into()),
        page_size: PAGE,
        ..Default::default()
    };
    let mut events = Vec::new();
    loop {
        let page = client.list_requests(question.clone()).await;
        let page = page.unwrap_or_else(|status| panic!("no accounts: {status}")).into_inner();
        events.extend(page.events);
        question.page_token = page.next_page_token;
        if question.page_token.is_empty() {
            events.reverse();
            return events;
        }
    }
}
