//! A vendor fails: who is asked next.

use crate::{
    adapter::{answers_after, fails_after},
    world::{World, alias, tried},
};
use signalbox_types::ErrorReason;

#[tokio::test(start_paused = true)]
async fn the_other_models_of_a_vendor_that_failed_come_after_those_of_others() {
    for reason in [ErrorReason::VendorTimeout, ErrorReason::VendorError, ErrorReason::VendorUnreachable] {
        let world = World::new();
        world.adapter.tell("openai", [fails_after(0, reason)]);
        let answer = world.ask(alias("all")).await.unwrap();
        assert_eq!(answer.route.vendor, "anthropic", "{reason:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn when_nothing_else_is_left_another_model_of_a_failed_vendor_is_asked() {
    let world = World::new();
    let timeout = ErrorReason::VendorTimeout;
    world.adapter.tell("openai", [fails_after(0, timeout), answers_after(0, "from sol")]);
    world.adapter.tell("anthropic", [fails_after(0, timeout)]);
    world.adapter.tell("gemini", [fails_after(0, timeout)]);
    let answer = world.ask(alias("all")).await.unwrap();
    assert_eq!((&*answer.route.model, &*answer.text), ("gpt-6-sol", "from sol"));
    assert_eq!(answer.route.attempts.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_not_tried_with_another_model() {
    let world = World::new();
    for vendor in ["openai", "anthropic", "gemini"] {
        world.adapter.tell(vendor, [fails_after(0, ErrorReason::VendorAuth)]);
    }
    let status = world.ask(alias("all")).await.unwrap_err();
    assert_eq!(
        tried(&status),
        ["openai FIRST_CHOICE VENDOR_AUTH", "anthropic FALLBACK VENDOR_AUTH", "gemini FALLBACK VENDOR_AUTH"]
    );
}

#[tokio::test(start_paused = true)]
async fn overload_told_within_a_stream_of_status_200_opens_the_breaker() {
    let world = World::new();
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorOverloaded)]);
    for _ in 0..10 {
        world.stream(alias("pair")).await.unwrap();
    }
    let spared = world.stream(alias("pair")).await.unwrap();
    assert_eq!(spared.attempts(), ["anthropic FIRST_CHOICE"]);
}
