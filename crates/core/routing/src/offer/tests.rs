use super::*;
use crate::{Candidate, Demand, Plan, Rules, plan};
use proptest::prelude::*;
use signalbox_types::{Capability, ErrorReason, Failure};

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
    Offer {
        model,
        facts: Some(facts),
        configured: true,
        served: true,
        held_for: None,
        standing: Standing::Preferred,
    }
}

/// The plan in the catalogue's order, and what a caller would be told if it were empty.
fn planned(needs: Needs, offers: &[Offer<'_>]) -> (Plan, Failure) {
    let candidates: Vec<Candidate<'_>> = offers.iter().copied().map(Candidate::new).collect();
    let plan = plan(&Demand::new(needs), &candidates, &Rules::CATALOGUE_ORDER, usize::MAX, || 0.5);
    let refusal = plan.refusal(&candidates);
    (plan, refusal)
}

#[test]
fn a_model_that_lacks_a_capability_never_sees_the_request() {
    let (name, facts) = (ModelRef::new("a", "m"), facts(&[Capability::Text], 0));
    let needs = needs(&[Capability::Text, Capability::Tools, Capability::ImageInput], 1);
    let (_, refusal) = planned(needs, &[offer(&name, &facts)]);
    assert_eq!(refusal.reason, ErrorReason::NoCapableModel);
    assert_eq!(refusal.message, "no model can serve this request: a/m lacks image_input, tools");
}

#[test]
fn a_prompt_that_cannot_fit_is_too_long_and_one_that_may_fit_is_tried() {
    let (name, facts) = (ModelRef::new("a", "m"), facts(&[Capability::Text], 1000));
    let offers = [offer(&name, &facts)];
    assert_eq!(planned(needs(&[], 1300), &offers).0.order, [0]);
    assert_eq!(planned(needs(&[], 1400), &offers).1.reason, ErrorReason::ContextLengthExceeded);
}

#[test]
fn a_vendor_that_asked_to_wait_is_skipped_and_the_caller_told_when_to_come_back() {
    let (a, b, facts) = (ModelRef::new("a", "m"), ModelRef::new("b", "m"), facts(&[], 0));
    let wait = |seconds| Some(Duration::from_secs(seconds));
    let mut offers = [Offer { held_for: wait(9), ..offer(&a, &facts) }, offer(&b, &facts)];
    assert_eq!(planned(needs(&[], 1), &offers).0.order, [1]);
    offers[1].held_for = wait(4);
    let (_, refusal) = planned(needs(&[], 1), &offers);
    assert_eq!((refusal.reason, refusal.retry_after), (ErrorReason::VendorRateLimited, wait(4)));
}

proptest! {
    #[test]
    fn every_offer_is_planned_or_excluded_and_none_that_cannot_serve_is_planned(
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
        let (plan, _) = planned(needs(&[Capability::Text], prompt_tokens), &offers);
        for (index, (offer, verdict)) in offers.iter().zip(&plan.verdicts).enumerate() {
            prop_assert_eq!(verdict.rating().is_some(), plan.order.contains(&index));
            let can_serve = offer.configured && offer.served && offer.held_for.is_none();
            prop_assert!(can_serve || !plan.order.contains(&index));
        }
    }
}
