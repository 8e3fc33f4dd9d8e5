use super::*;
use proptest::prelude::*;
use signalbox_types::{Capability, ErrorReason};

fn facts(capabilities: &[Capability], window: u32) -> ModelFacts {
    ModelFacts {
        capabilities: capabilities.iter().copied().collect(),
        context_window: window,
        ..Default::default()
    }
}

fn needs(capabilities: &[Capability], prompt_tokens: u64) -> Needs {
    Needs { capabilities: capabilities.iter().copied().collect(), prompt_tokens, answer_tokens: 0 }
}

fn offer<'a>(model: &'a ModelRef, facts: &'a ModelFacts) -> Offer<'a> {
    Offer { model, facts: Some(facts), configured: true, served: true, held_for: None, last_resort: false }
}

#[test]
fn a_model_that_lacks_a_capability_never_sees_the_request() {
    let (name, facts) = (ModelRef::new("a", "m"), facts(&[Capability::Text], 0));
    let offers = [offer(&name, &facts)];
    let plan = plan(&needs(&[Capability::Text, Capability::Tools, Capability::ImageInput], 1), &offers, 3);
    let refusal = plan.refusal(&offers);
    assert_eq!(refusal.reason, ErrorReason::NoCapableModel);
    assert_eq!(refusal.message, "no model can serve this request: a/m lacks image_input, tools");
}

#[test]
fn a_prompt_that_cannot_fit_is_too_long_and_one_that_may_fit_is_tried() {
    let (name, facts) = (ModelRef::new("a", "m"), facts(&[Capability::Text], 1000));
    let offers = [offer(&name, &facts)];
    assert_eq!(plan(&needs(&[], 1300), &offers, 3).order, [0]);
    let refused = plan(&needs(&[], 1400), &offers, 3);
    assert_eq!(refused.refusal(&offers).reason, ErrorReason::ContextLengthExceeded);
}

#[test]
fn a_vendor_that_asked_to_wait_is_skipped_and_the_caller_told_when_to_come_back() {
    let (a, b, facts) = (ModelRef::new("a", "m"), ModelRef::new("b", "m"), facts(&[], 0));
    let wait = |seconds| Some(Duration::from_secs(seconds));
    let mut offers = [Offer { held_for: wait(9), ..offer(&a, &facts) }, offer(&b, &facts)];
    assert_eq!(plan(&needs(&[], 1), &offers, 3).order, [1]);
    offers[1].held_for = wait(4);
    let refusal = plan(&needs(&[], 1), &offers, 3).refusal(&offers);
    assert_eq!((refusal.reason, refusal.retry_after), (ErrorReason::VendorRateLimited, wait(4)));
}

#[test]
fn the_last_resort_stays_when_the_list_is_cut() {
    let names: Vec<ModelRef> =
        ["a", "b", "c", "d", "local"].map(|vendor| ModelRef::new(vendor, "m")).to_vec();
    let facts = facts(&[], 0);
    let mut offers: Vec<Offer<'_>> = names.iter().map(|name| offer(name, &facts)).collect();
    assert_eq!(plan(&needs(&[], 1), &offers, 3).order, [0, 1, 2]);
    offers[4].last_resort = true;
    assert_eq!(plan(&needs(&[], 1), &offers, 3).order, [0, 1, 4]);
    assert_eq!(plan(&needs(&[], 1), &offers, 1).order, [4]);
}

proptest! {
    #[test]
    fn every_offer_is_planned_or_excluded_once_and_never_both(
        states in proptest::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), any::<u32>()), 0..12),
        prompt_tokens: u64,
    ) {
        let name = ModelRef::new("a", "m");
        let facts: Vec<ModelFacts> = states.iter().map(|(.., window)| facts(&[Capability::Text], *window)).collect();
        let offers: Vec<Offer<'_>> = states.iter().zip(&facts).map(|((configured, served, held, _), facts)| Offer {
            configured: *configured,
            served: *served,
            held_for: held.then_some(Duration::from_secs(1)),
            ..offer(&name, facts)
        }).collect();
        let plan = plan(&needs(&[Capability::Text], prompt_tokens), &offers, usize::MAX);
        let mut seen: Vec<usize> = plan.order.iter().copied().chain(plan.excluded.iter().map(|(index, _)| *index)).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..offers.len()).collect::<Vec<_>>());
        prop_assert!(plan.order.iter().all(|index| offers[*index].configured && offers[*index].served));
    }
}
