use super::world::{TENANT, World, asking, item};
use signalbox_api::v1::{
    BatchItem, GenerateRequest, Lane,
    batch_item::Request as Asked,
    usage_event::{Operation, Outcome},
};
use std::collections::BTreeSet;

#[tokio::test]
async fn every_item_is_accounted_for_once_and_all_sums_agree() {
    let world = World::new().await;
    let working = world.work();
    let scene = GenerateRequest { scene: "day".into(), ..asking("two", "broken-a") };
    let other_scene = BatchItem { item_id: "d".into(), request: Some(Asked::Generate(scene)) };
    let items =
        vec![item("x", "two"), item("broken-a", "two"), item("bad", "one"), item("u", "usual"), other_scene];
    world.submit("j", items).await;
    let results = world.results("j").await;
    world.settled().await;
    let (reserved, settled, uncovered) = world.bank.sums();
    assert_eq!((reserved, uncovered, world.bank.held()), (500, 0, 0));

    let told = world.told.all();
    assert_eq!((told.len(), results.len()), (5, 5));
    let cost: i64 = told.iter().map(|event| event.cost.as_ref().unwrap().nano_eur).sum();
    assert_eq!((cost, world.job("j").await.cost.unwrap().nano_eur), (settled, settled));
    assert_eq!(settled, 20 + 20 + 40 + 20);
    let ids: BTreeSet<_> = told.iter().map(|event| &event.request_id).collect();
    assert_eq!(ids.len(), 5, "each request has an id of its own");
    for event in &told {
        assert_eq!(
            (event.lane(), event.operation(), &*event.tenant_id),
            (Lane::Batch, Operation::Generate, TENANT)
        );
        assert_eq!((event.charges.len(), event.charges[0].reserved_nano_eur), (1, 100), "its own part");
        let quoted =
            event.attempts.iter().filter_map(|it| it.attempt.as_ref()).any(|it| !it.error_message.is_empty());
        assert!(!quoted, "no account holds what vendors quote");
        let outcome = if event.error_reason.is_empty() { Outcome::Succeeded } else { Outcome::Failed };
        assert_eq!(event.outcome(), outcome);
    }
    let scenes: BTreeSet<_> = told.iter().map(|event| &*event.scene).collect();
    assert_eq!(scenes, ["day", "night"].into());
    working.end().await;
}

#[tokio::test]
async fn a_later_job_of_the_same_name_has_accounts_of_its_own() {
    let head = |create_time| signalbox_ports::batches::JobHead {
        number: 1,
        tenant_id: TENANT.into(),
        job_id: "j".into(),
        details: Vec::new(),
        state: signalbox_batching::JobState::Running,
        create_time,
        complete_by: create_time,
    };
    let (first, later) = (std::time::UNIX_EPOCH, std::time::UNIX_EPOCH + std::time::Duration::from_micros(1));
    let id = |time| crate::stored::id_in_job(&head(time), "event", "x");
    assert_eq!(id(first), id(first));
    assert_ne!(id(first), id(later));
}

#[tokio::test]
async fn what_was_ended_last_is_told_before_the_process_ends() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    world.results("j").await;
    working.end().await;
    assert_eq!((world.told.all().len(), world.bank.held()), (1, 0));
}
