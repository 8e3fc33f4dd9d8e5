use super::world::{TENANT, World, asking, item, job};
use crate::Dependencies;
use futures_util::stream;
use signalbox_api::{
    status::from_status,
    v1::{self, BatchItem, batch_item::Request as Asked, batch_job::State},
};
use signalbox_ports::batches::BatchStore as _;
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;

async fn refused(world: &World, items: Vec<BatchItem>) -> Failure {
    from_status(&world.try_submit(job("j"), items).await.unwrap_err())
}

fn fields(failure: &Failure) -> Vec<&str> {
    failure.violations.iter().map(|violation| violation.field.as_str()).collect()
}

#[tokio::test]
async fn a_job_is_taken_whole_with_its_worst_case_reserved() {
    let world = World::new().await;
    let taken = world.submit("j", vec![item("x", "two"), item("y", "usual")]).await;
    assert_eq!((taken.state(), taken.counts.unwrap().queued), (State::Running, 2));
    assert_eq!((taken.reserved.unwrap().nano_eur, world.bank.held()), (200, 200));
    let kept = world.job("j").await;
    assert_eq!((&*kept.scene, kept.windows.len()), ("night", 2));
}

#[tokio::test]
async fn the_same_id_again_gives_the_job_that_exists_and_reserves_nothing_more() {
    let world = World::new().await;
    let first = world.submit("j", vec![item("x", "two")]).await;
    let again = world.submit("j", vec![item("x", "two")]).await;
    assert_eq!((again.create_time, again.counts.unwrap().total), (first.create_time, 1));
    assert_eq!(world.bank.sums().0, 100);
    let other = world.try_submit(job(""), vec![item("x", "two")]).await.unwrap();
    assert!(!other.job_id.is_empty(), "an id is made up");
}

#[tokio::test]
async fn the_same_id_with_other_items_or_settings_is_refused_and_the_job_stays_as_it_is() {
    let world = World::new().await;
    world.submit("j", vec![item("x", "two")]).await;
    let others = [
        (job("j"), vec![item("x", "one")]),
        (job("j"), vec![item("x", "two"), item("y", "two")]),
        (v1::BatchJob { reference: "other".into(), ..job("j") }, vec![item("x", "two")]),
    ];
    for (settings, items) in others {
        let failure = from_status(&world.try_submit(settings, items).await.unwrap_err());
        assert_eq!(failure.reason, ErrorReason::AlreadyExists);
        assert!(failure.message.starts_with("job_id: the job `j` exists already"), "{}", failure.message);
    }
    assert_eq!((world.job("j").await.counts.unwrap().total, world.bank.sums().0), (1, 100));
}

#[tokio::test]
async fn of_two_different_ones_that_come_at_once_under_one_id_one_is_refused_and_its_money_is_free() {
    let world = World::new().await;
    let (one, other) = tokio::join!(
        world.try_submit(job("j"), vec![item("x", "two")]),
        world.try_submit(job("j"), vec![item("y", "two")])
    );
    let refused = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert_eq!(
        refused.iter().map(|status| from_status(status).reason).collect::<Vec<_>>(),
        [ErrorReason::AlreadyExists]
    );
    let working = world.work();
    world.results("j").await;
    world.settled().await;
    assert_eq!((world.bank.sums().0, world.bank.sums().1), (200, 20), "one was paid for");
    working.end().await;
}

#[tokio::test]
async fn of_two_that_come_at_once_under_one_id_one_is_kept_and_the_others_money_is_free() {
    let world = World::new().await;
    let (one, other) =
        tokio::join!(world.submit("j", vec![item("x", "two")]), world.submit("j", vec![item("x", "two")]));
    assert_eq!(one.create_time, other.create_time);
    let working = world.work();
    world.results("j").await;
    world.settled().await;
    assert_eq!((world.bank.sums().0, world.bank.sums().1), (200, 20), "one was paid for");
    working.end().await;
}

#[tokio::test]
async fn what_is_wrong_with_items_is_named_by_item_and_field_and_all_at_once() {
    let world = World::new().await;
    let hot = v1::Sampling { temperature: Some(9.0), ..Default::default() };
    let hot = Asked::Generate(v1::GenerateRequest { sampling: Some(hot), ..asking("two", "x") });
    let foreign =
        v1::EmbedRequest { tenant_id: "rival".into(), inputs: vec!["x".into()], ..Default::default() };
    let items = vec![
        BatchItem { item_id: "hot".into(), request: Some(hot) },
        BatchItem { item_id: "foreign".into(), request: Some(Asked::Embed(foreign)) },
        BatchItem { item_id: "silent".into(), request: None },
        item("a b", "two"),
        item("twice", "two"),
        item("twice", "two"),
    ];
    let failure = refused(&world, items).await;
    assert_eq!(failure.reason, ErrorReason::InvalidRequest);
    assert_eq!(
        fields(&failure),
        [
            "items[hot].generate.sampling.temperature",
            "items[foreign].embed.tenant_id",
            "items[silent].request",
            "items[3].item_id",
            "items[5].item_id",
        ]
    );
    assert_eq!(world.bank.sums().0, 0);
}

#[tokio::test]
async fn what_the_router_refuses_of_an_item_is_told_with_the_item() {
    let world = World::new().await;
    let failure = refused(&world, vec![item("x", "two"), item("y", "nobody")]).await;
    assert_eq!(failure.reason, ErrorReason::UnknownModel);
    assert_eq!(failure.message, "items[y].generate.model: there is no `nobody`");
    assert_eq!(world.bank.sums().0, 0);
}

#[tokio::test]
async fn a_job_without_settings_or_items_and_settings_that_come_twice_are_refused() {
    let world = World::new().await;
    let submit = async |messages: Vec<v1::SubmitBatchJobRequest>| {
        let refused = world.client().submit_batch_job(stream::iter(messages)).await.unwrap_err();
        from_status(&refused).message
    };
    let settings = || v1::SubmitBatchJobRequest { job: Some(job("j")), items: Vec::new() };
    let items = v1::SubmitBatchJobRequest { job: None, items: vec![item("x", "two")] };
    assert_eq!(submit(Vec::new()).await, "job: is required in the first message");
    assert_eq!(submit(vec![items, settings()]).await, "job: is required in the first message");
    let none = "items: has none: at least one is required before you half-close";
    assert_eq!(submit(vec![settings()]).await, none);
    assert_eq!(submit(vec![settings(), settings()]).await, "job: may be in the first message only");
    let long = Some(prost_types::Duration { seconds: 31 * 86_400, nanos: 0 });
    let settings = v1::BatchJob { job_id: "a b".into(), completion_window: long, ..job("") };
    let failure = from_status(&world.try_submit(settings, Vec::new()).await.unwrap_err());
    assert_eq!(fields(&failure), ["job_id", "completion_window"]);
}

#[tokio::test]
async fn a_job_that_is_too_large_is_refused_before_it_is_there_whole_and_the_limit_is_named() {
    let mut world = World::new().await;
    (world.dependencies.options.max_job_items, world.dependencies.options.max_job_bytes) = (2, 1_000);
    let failure = refused(&world, vec![item("x", "two"), item("y", "two"), item("z", "two")]).await;
    assert_eq!(failure.reason, ErrorReason::RequestTooLarge);
    assert!(failure.message.starts_with("items: has more than 2 items (batch.max_job_items"), "{failure:?}");
    let long = Asked::Generate(asking("two", &"long ".repeat(300)));
    // Nothing but an end would come after it: whoever sends without end is not read without end.
    let first = v1::SubmitBatchJobRequest {
        job: Some(job("j")),
        items: vec![BatchItem { item_id: "x".into(), request: Some(long) }],
    };
    let endless = stream::iter([first]);
    let endless = futures_util::StreamExt::chain(endless, stream::pending());
    let failure = from_status(&world.client().submit_batch_job(endless).await.unwrap_err());
    assert!(
        failure.message.starts_with("items: has more than 1000 bytes (batch.max_job_bytes"),
        "{failure:?}"
    );
}

#[tokio::test]
async fn a_caller_who_goes_away_half_way_leaves_nothing() {
    let world = World::new().await;
    let first = v1::SubmitBatchJobRequest { job: Some(job("j")), items: vec![item("x", "two")] };
    let unfinished = futures_util::StreamExt::chain(stream::iter([first]), stream::pending());
    let mut client = world.client();
    let call = client.submit_batch_job(unfinished);
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err(), "it waits for more");
    assert_eq!(world.bank.sums().0, 0);
    assert_eq!(world.store.job(TENANT, "j").await.unwrap(), None);
}

#[tokio::test]
async fn where_a_budget_is_short_nothing_is_kept_and_nothing_stays_reserved() {
    let world = World::new().await;
    let poor = v1::GenerateRequest { scene: "poor".into(), ..asking("two", "y") };
    let poor = BatchItem { item_id: "y".into(), request: Some(Asked::Generate(poor)) };
    let failure = refused(&world, vec![item("x", "two"), poor]).await;
    assert_eq!(failure.reason, ErrorReason::BudgetExhausted);
    assert!(failure.message.contains("max_output_tokens"), "{}", failure.message);
    let working = world.work();
    world.settled().await;
    assert_eq!((world.bank.sums().1, world.store.job(TENANT, "j").await.unwrap()), (0, None));
    working.end().await;
}

#[tokio::test]
async fn nothing_is_reserved_for_a_job_while_the_store_cannot_be_written() {
    let world = World::without_tables();
    let refused = world.try_submit(job(""), vec![item("x", "two")]).await.unwrap_err();
    assert_eq!(from_status(&refused).reason, ErrorReason::Unavailable);
    assert_eq!(world.bank.sums().0, 0);
}

#[tokio::test]
async fn without_budgets_jobs_are_taken_all_the_same() {
    let mut world = World::new().await;
    world.dependencies = Dependencies { budget: None, ..world.dependencies };
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    assert_eq!(world.results("j").await.len(), 1);
    working.end().await;
    assert_eq!(world.told.all()[0].charges, []);
}
