//! Follows the health that an adapter reports.

use crate::SharedHealth;
use signalbox_api::v1::{WatchHealthRequest, provider_service_client::ProviderServiceClient};
use signalbox_kit::Hop;
use std::time::Duration;

/// The pause after a stream that gave something.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Takes in every report of the adapter behind a hop, and follows it again whenever it is lost. Runs until dropped.
pub async fn follow_health(adapter: Hop, health: SharedHealth) {
    let mut adapter = ProviderServiceClient::new(adapter);
    let mut pause = SHORTEST_PAUSE;
    loop {
        if let Ok(reports) = adapter.watch_health(WatchHealthRequest {}).await {
            let mut reports = reports.into_inner();
            while let Ok(Some(report)) = reports.message().await {
                health.absorb(&report);
                pause = SHORTEST_PAUSE;
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
