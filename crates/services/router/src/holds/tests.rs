use super::*;
use signalbox_routing::Offer;
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

/// No jitter, and the most of it.
fn none() -> f64 {
    0.0
}

fn most() -> f64 {
    1.0
}

fn luna() -> ModelRef {
    ModelRef::new("openai", "luna")
}

fn sol() -> ModelRef {
    ModelRef::new("openai", "sol")
}

fn failure(reason: ErrorReason, retry_after: Option<Duration>) -> Failure {
    Failure { retry_after, ..Failure::new(reason, "") }
}

/// A candidate as described: the hold, the refusal with its time, the weight, and what is left of the quota.
type Told = (Option<Duration>, Option<(ErrorReason, Duration)>, f64, Option<f64>);

fn told(holds: &SharedHolds, model: &ModelRef) -> Told {
    let offer = Offer {
        model,
        facts: None,
        configured: true,
        served: true,
        held_for: None,
        standing: signalbox_routing::Standing::Preferred,
    };
    let mut candidate = Candidate::new(offer);
    holds.describe(model, &mut candidate);
    let refused = candidate.refused.map(|refused| (refused.reason, refused.left));
    (candidate.offer.held_for, refused, candidate.weight, candidate.quota_left)
}

const FREE: Told = (None, None, 1.0, None);

#[tokio::test(start_paused = true)]
async fn a_rate_limited_model_waits_and_then_gets_its_weight_back_bit_by_bit() {
    let holds = SharedHolds::with_random(none);
    holds.on_failure(&luna(), &failure(ErrorReason::VendorRateLimited, Some(20 * SECOND)));
    assert_eq!(told(&holds, &luna()), (Some(20 * SECOND), None, 0.8, None));
    assert!(holds.is_held(&luna()));
    assert_eq!(told(&holds, &sol()), FREE, "limits are per model");
    advance(20 * SECOND).await;
    assert_eq!(told(&holds, &luna()), (None, None, 0.8, None));
    assert!(!holds.is_held(&luna()));
    advance(5 * SECOND).await;
    assert!((told(&holds, &luna()).2 - 0.9).abs() < 1e-9);
    advance(6 * SECOND).await;
    assert_eq!(told(&holds, &luna()), FREE);
}

#[tokio::test(start_paused = true)]
async fn a_second_longer_hold_extends_the_first_and_a_shorter_one_does_not_cut_it() {
    let holds = SharedHolds::with_random(none);
    for (seconds, held) in [(10, 10), (4, 10), (30, 30)] {
        holds.on_failure(&luna(), &failure(ErrorReason::VendorRateLimited, Some(seconds * SECOND)));
        assert_eq!(told(&holds, &luna()).0, Some(held * SECOND));
    }
}

#[tokio::test(start_paused = true)]
async fn holds_are_lengthened_by_chance_and_bounded() {
    let holds = SharedHolds::with_random(most);
    for (reason, asked, held) in [
        (ErrorReason::VendorRateLimited, Some(10), 12),
        (ErrorReason::VendorOverloaded, Some(20), 24),
        (ErrorReason::VendorRateLimited, Some(86_400), 300),
        (ErrorReason::VendorQuotaExhausted, Some(86_400), 3600),
    ] {
        holds.on_failure(&luna(), &failure(reason, asked.map(Duration::from_secs)));
        assert_eq!(told(&holds, &luna()).0, Some(Duration::from_secs(held)), "{reason:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_without_a_time_holds_for_a_second_and_an_overload_without_one_not_at_all() {
    let holds = SharedHolds::with_random(none);
    holds.on_failure(&luna(), &failure(ErrorReason::VendorRateLimited, None));
    assert_eq!(told(&holds, &luna()).0, Some(SECOND));
    holds.on_failure(&sol(), &failure(ErrorReason::VendorOverloaded, None));
    assert_eq!(told(&holds, &sol()), FREE);
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_holds_the_whole_vendor_longer_each_time() {
    let holds = SharedHolds::with_random(none);
    let refused = failure(ErrorReason::VendorAuth, None);
    for seconds in [60, 120, 240, 480, 600, 600] {
        let left = seconds * SECOND;
        holds.on_failure(&luna(), &refused);
        // Of the calls that were under way.
        holds.on_failure(&luna(), &refused);
        for model in [luna(), sol()] {
            assert_eq!(told(&holds, &model), (None, Some((ErrorReason::VendorAuth, left)), 1.0, None));
        }
        advance(left).await;
        assert_eq!(told(&holds, &luna()), FREE);
    }
    assert_eq!(told(&holds, &ModelRef::new("anthropic", "haiku")), FREE);
}

#[tokio::test(start_paused = true)]
async fn one_call_that_succeeds_frees_the_vendor() {
    let holds = SharedHolds::with_random(none);
    for reason in [ErrorReason::VendorAuth, ErrorReason::VendorQuotaExhausted] {
        holds.on_failure(&luna(), &failure(reason, None));
        assert!(holds.is_held(&sol()));
        holds.on_success(&sol(), None);
        assert_eq!(told(&holds, &luna()), FREE);
        holds.on_failure(&luna(), &failure(reason, None));
        let first = if reason == ErrorReason::VendorAuth { 60 } else { 300 };
        assert_eq!(
            told(&holds, &luna()).1,
            Some((reason, first * SECOND)),
            "and the next hold is a first one"
        );
        holds.on_success(&sol(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_configuration_frees_its_vendor_within_the_grace() {
    let holds = SharedHolds::with_random(none);
    holds.on_failure(&luna(), &failure(ErrorReason::VendorAuth, None));
    holds.on_failure(&luna(), &failure(ErrorReason::VendorPermission, None));
    holds.reconfigured(["anthropic"], Duration::ZERO);
    assert_eq!(told(&holds, &luna()).1, Some((ErrorReason::VendorAuth, 60 * SECOND)));
    holds.reconfigured(["openai"], 5 * SECOND);
    assert_eq!(told(&holds, &luna()).1, Some((ErrorReason::VendorAuth, 5 * SECOND)));
    holds.reconfigured(["openai"], Duration::ZERO);
    assert_eq!(told(&holds, &luna()), FREE);
}

#[tokio::test(start_paused = true)]
async fn a_missing_permission_holds_the_model_alone() {
    let holds = SharedHolds::with_random(none);
    holds.on_failure(&luna(), &failure(ErrorReason::VendorPermission, None));
    assert_eq!(told(&holds, &luna()).1, Some((ErrorReason::VendorPermission, 60 * SECOND)));
    assert_eq!(told(&holds, &sol()), FREE);
}

#[tokio::test(start_paused = true)]
async fn what_was_left_of_a_quota_is_known_for_a_minute() {
    let holds = SharedHolds::with_random(none);
    holds.on_success(&luna(), Some(0.5));
    advance(30 * SECOND).await;
    holds.on_success(&luna(), Some(0.25));
    holds.on_success(&luna(), None);
    assert_eq!(told(&holds, &luna()).3, Some(0.25));
    advance(60 * SECOND).await;
    assert_eq!(told(&holds, &luna()), FREE);
}

#[tokio::test(start_paused = true)]
async fn names_that_callers_invent_do_not_pile_up() {
    let holds = SharedHolds::with_random(none);
    for name in 0..1000 {
        let model = ModelRef::new("local", format!("model-{name}"));
        holds.on_failure(&model, &failure(ErrorReason::VendorRateLimited, None));
        holds.on_failure(&model, &failure(ErrorReason::InvalidRequest, None));
        advance(30 * SECOND).await;
    }
    assert_eq!(read(&holds.0.models).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn other_failures_hold_nobody() {
    let holds = SharedHolds::with_random(none);
    for reason in [ErrorReason::VendorError, ErrorReason::VendorTimeout, ErrorReason::InvalidRequest] {
        holds.on_failure(&luna(), &failure(reason, Some(SECOND)));
        assert_eq!(told(&holds, &luna()), FREE);
    }
}
