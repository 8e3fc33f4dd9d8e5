use super::world::{EUR, World, at, monthly, slices, told};
use signalbox_api::v1::{
    ReconcileLedgerRequest, ReconcileLedgerResponse, budget_service_server::BudgetService,
};
use signalbox_ports::SpentRequest;
use signalbox_types::ErrorReason;
use std::{sync::Arc, time::Duration};
use tonic::Request;

impl World {
    /// The usage store has a request that ended now.
    fn spend(&self, request_id: &str, amount: i64) {
        let (tenant_id, budget_ids) = ("acme".to_owned(), vec!["m".to_owned()]);
        let request_id = request_id.to_owned();
        let request = SpentRequest { tenant_id, request_id, budget_ids, amount, unknown: None };
        self.spent.0.lock().unwrap().push((self.dependencies.clock.now(), request));
    }

    async fn reconcile(&self, start: &str, end: &str, page_token: &str) -> ReconcileLedgerResponse {
        let request = ReconcileLedgerRequest {
            tenant_id: "acme".into(),
            start_time: Some(at(start).into()),
            end_time: Some(at(end).into()),
            page_size: 2,
            page_token: page_token.to_owned(),
        };
        told(self.service.reconcile_ledger(Request::new(request)).await)
    }
}

#[tokio::test]
async fn a_ledger_that_agrees_shows_no_difference_though_settlements_come_later() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    for number in 0..5 {
        let id = format!("q{number}");
        world.spend(&id, 100);
        // The last one is settled in another slice of the window, and the one before after the window.
        world.clock.forward(Duration::from_secs(1_000));
        world.settle(&id, &granted[0], 100).await;
    }
    let end = world.dependencies.clock.now() - Duration::from_secs(500);
    let end = prost_types::Timestamp::from(end).to_string();
    let found = world.reconcile("2026-11-30T00:00:00Z", &end, "").await;
    assert_eq!(found.differences, []);
    assert_eq!((found.ledger_nano_eur, found.usage_nano_eur, found.requests), (500, 500, 5));
    let found = world.reconcile("2026-11-30T12:10:00Z", &end, "").await;
    assert_eq!(
        found.differences,
        [],
        "what ended before the window and was settled in it is nobody's difference"
    );
    assert_eq!((found.ledger_nano_eur, found.usage_nano_eur, found.requests), (400, 400, 4));
}

#[tokio::test]
async fn each_difference_is_shown_page_by_page() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    world.spend("lost-settlement", 100);
    world.settle("lost-account", &granted[0], 70).await;
    world.spend("other-amount", 10);
    world.settle("other-amount", &granted[0], 30).await;
    world.spend("same", 5);
    world.settle("same", &granted[0], 5).await;
    world.clock.forward(Duration::from_secs(60));
    let (start, end) = ("2026-11-30T00:00:00Z", "2026-11-30T12:00:30Z");
    let first = world.reconcile(start, end, "").await;
    let last = world.reconcile(start, end, &first.next_page_token).await;
    assert_eq!(last.next_page_token, "");
    let all = [first.differences, last.differences].concat();
    let told: Vec<_> =
        all.iter().map(|one| (one.request_id.as_str(), one.ledger_nano_eur, one.usage_nano_eur)).collect();
    let expected = [
        ("lost-account", Some(70), None),
        ("lost-settlement", None, Some(100)),
        ("other-amount", Some(30), Some(10)),
    ];
    assert_eq!(told, expected);
    assert_eq!((first.ledger_nano_eur, first.usage_nano_eur, first.requests), (105, 115, 4));
}

#[tokio::test]
async fn without_a_usage_store_it_says_so() {
    let world = World::with_acme().await;
    let dependencies = crate::Dependencies { spent: None, ..world.dependencies.clone() };
    let service = Arc::new(crate::BudgetKeeping::new(dependencies));
    let start_time = Some(at("2026-11-30T00:00:00Z").into());
    let request = ReconcileLedgerRequest { start_time, ..Default::default() };
    let failure = super::world::refused(service.reconcile_ledger(Request::new(request)).await);
    assert_eq!(failure.reason, ErrorReason::Unavailable);
}
