//! What vendors do not say of answers: what they used, or that they are there.

use super::world::{World, answer, item};
use signalbox_api::v1::token_usage::Source;

#[tokio::test]
async fn an_answer_without_a_count_is_estimated_from_prompt_and_answer() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("uncounted-a", "one")]).await;
    let results = world.results("j").await;
    let usage = answer(&results["uncounted-a"]).usage.unwrap();
    assert_eq!((usage.source(), usage.output_tokens), (Source::Estimated, 3));
    assert!(usage.input_tokens > 0, "{usage:?}");
    working.end().await;
}

#[tokio::test]
async fn an_item_without_a_result_is_free_only_where_the_vendor_shows_all_that_it_answered() {
    for (unshown, unknown) in [(0, false), (1, true)] {
        let world = World::new().await;
        world.vendor.desk().unshown = unshown;
        let working = world.work();
        world.submit("j", vec![item("missing-a", "two"), item("x", "two")]).await;
        let results = world.results("j").await;
        let route = answer(&results["missing-a"]).route.as_ref().unwrap();
        let first = route.attempts[0].cost.as_ref().unwrap();
        assert_eq!((first.unknown, first.nano_eur), (unknown, 0));
        assert_eq!(route.total_cost.as_ref().unwrap().unknown, unknown);
        working.end().await;
    }
}
