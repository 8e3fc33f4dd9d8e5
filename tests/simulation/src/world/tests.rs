use super::*;
use crate::{
    Incident, Kind,
    scenarios::{self, vendor},
};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn world(vendor: usize, kind: Kind) -> Arc<World> {
    let incident = Incident { vendor, kind, from: secs(0), until: secs(60) };
    World::new(Arc::new(Scenario { incidents: vec![incident], ..scenarios::calm(10.0, secs(120)) }))
}

fn call(vendor: usize, request: u64) -> Call {
    Call { vendor, request, caller: 0, timeout: None }
}

#[tokio::test(start_paused = true)]
async fn an_answer_takes_the_vendors_own_time_and_six_times_that_in_a_brown_out() {
    let world = world(vendor::ELM, Kind::BrownOut(6.0));
    let own = |vendor| world.scenario.own_time(vendor, 1);
    for (vendor, times) in [(vendor::ELM, 6), (vendor::ASPEN, 1)] {
        let took = world.call(call(vendor, 1)).await.unwrap().took;
        assert!(took.abs_diff(own(vendor) * times) < Duration::from_millis(2), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_vendor_is_given_up_after_fifteen_seconds() {
    let failure = world(0, Kind::Silence).call(call(0, 1)).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorTimeout);
}

#[tokio::test(start_paused = true)]
async fn a_call_before_its_time_is_noted() {
    let world = world(0, Kind::RateLimit(0.2));
    assert!(world.call(call(0, 1)).await.is_ok());
    let failure = world.call(call(0, 2)).await.unwrap_err();
    assert!(failure.retry_after.is_some());
    let _ = world.call(call(0, 3)).await;
    let other = Call { caller: 1, ..call(0, 4) };
    let _ = world.call(other).await;
    let seconds = world.seconds().swap_remove(0);
    assert_eq!(seconds.iter().map(|second| second.too_early).sum::<u64>(), 1);
    assert_eq!(seconds.iter().map(|second| second.limited).sum::<u64>(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_slows_down_beyond_its_knee_and_refuses_at_twice_as_many_calls() {
    let mut scenario = scenarios::calm(10.0, secs(120));
    scenario.vendors[0].knee = 10.0;
    let world = World::new(Arc::new(scenario));
    let calls = (1..=21).map(|request| world.call(call(0, request)));
    let ends = futures_util::future::join_all(calls).await;
    let (first, last, beyond) = (0, 19, 20);
    let times = |at: usize| {
        let own = world.scenario.own_time(0, at as u64 + 1).as_secs_f64();
        ends[at].as_ref().map(|reply| (reply.took.as_secs_f64() / own * 10.0).round() / 10.0)
    };
    assert_eq!((times(first).unwrap(), times(last).unwrap()), (1.0, 2.0));
    assert_eq!(ends[beyond].as_ref().unwrap_err().reason, ErrorReason::VendorOverloaded);
}
