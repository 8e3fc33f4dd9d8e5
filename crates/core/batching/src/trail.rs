//! Where an item goes that was not answered.

use crate::Target;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// How often an item is tried in all.
pub const MOST_TRIES: u32 = 3;

/// Who may serve an item, in order of preference, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    targets: Vec<Target>,
    at: usize,
    tries: u32,
    answered_badly: bool,
}

/// Why an item was not answered where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The vendor failed or ran out of time: it may do better later, another may do better now.
    Vendor,
    /// This target does not take it, now or later: refused whole, a refused key, a window too small.
    Target,
    /// The answer did not pass the gate.
    Answer,
    /// The request itself is at fault: nobody would answer it.
    Request,
}

impl Trail {
    /// An item's first try, at the first of its targets. None without any.
    pub fn new(targets: Vec<Target>) -> Option<Self> {
        (!targets.is_empty()).then_some(Self { targets, at: 0, tries: 1, answered_badly: false })
    }

    /// Where it is, or waits to go.
    pub fn target(&self) -> &Target {
        &self.targets[self.at]
    }

    /// All who may serve it.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// How often it has been tried, this time included.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// How it goes on after a fault; none where it ends. A vendor that failed is tried again after the others, also
    /// where there are no others; a target that does not take the item never; a bad answer leads to one try elsewhere.
    #[must_use]
    pub fn after(&self, fault: Fault, now: SystemTime, complete_by: SystemTime) -> Option<Self> {
        let may_go_on = self.tries < MOST_TRIES && now < complete_by;
        if fault == Fault::Request || !may_go_on || (fault == Fault::Answer && self.answered_badly) {
            return None;
        }
        let mut next = self.clone();
        if fault == Fault::Vendor {
            next.at += 1;
        } else {
            next.targets.remove(self.at);
        }
        next.at = next.at.checked_rem(next.targets.len())?;
        next.tries += 1;
        next.answered_badly |= fault == Fault::Answer;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lane;
    use proptest::prelude::*;
    use std::time::{Duration, UNIX_EPOCH};

    const LATER: SystemTime = UNIX_EPOCH;

    fn trail(models: &[&str]) -> Trail {
        let target =
            |model: &&str| Target { vendor: "v".to_owned(), model: (*model).to_owned(), lane: Lane::Batch };
        Trail::new(models.iter().map(target).collect()).unwrap()
    }

    /// The models it is tried at, given what goes wrong at each.
    fn way(models: &[&str], faults: &[Fault]) -> Vec<String> {
        let first = Some(trail(models));
        let faults = faults.iter().copied().map(Some).chain([None]);
        let mut way = Vec::new();
        let mut now = first;
        for fault in faults {
            let Some(trail) = now else { break };
            way.push(trail.target().model.clone());
            now = fault.and_then(|fault| trail.after(fault, LATER, LATER + Duration::from_secs(1)));
        }
        way
    }

    #[test]
    fn nothing_can_be_tried_nowhere() {
        assert_eq!(Trail::new(Vec::new()), None);
    }

    #[test]
    fn a_vendors_fault_leads_on_and_back_again_three_times_in_all() {
        use Fault::Vendor;
        assert_eq!(way(&["a", "b"], &[Vendor, Vendor, Vendor]), ["a", "b", "a"]);
        assert_eq!(way(&["a"], &[Vendor, Vendor, Vendor]), ["a", "a", "a"]);
    }

    #[test]
    fn a_target_that_does_not_take_it_is_not_tried_again() {
        use Fault::{Target, Vendor};
        assert_eq!(way(&["a", "b"], &[Target, Vendor]), ["a", "b", "b"]);
        assert_eq!(way(&["a", "b"], &[Vendor, Target]), ["a", "b", "a"]);
        assert_eq!(way(&["a"], &[Target]), ["a"]);
    }

    #[test]
    fn a_bad_answer_leads_to_one_try_elsewhere() {
        use Fault::{Answer, Vendor};
        assert_eq!(way(&["a", "b", "c"], &[Answer, Answer]), ["a", "b"]);
        assert_eq!(way(&["a", "b", "c"], &[Answer, Vendor]), ["a", "b", "c"]);
        assert_eq!(way(&["a"], &[Answer]), ["a"]);
    }

    #[test]
    fn a_fault_of_the_request_and_lost_time_end_it() {
        assert_eq!(way(&["a", "b"], &[Fault::Request]), ["a"]);
        assert_eq!(trail(&["a", "b"]).after(Fault::Vendor, LATER, LATER), None);
    }

    proptest! {
        #[test]
        fn every_item_comes_to_an_end(
            targets in 1usize..5,
            faults in prop::collection::vec(prop::sample::select(
                vec![Fault::Vendor, Fault::Target, Fault::Answer, Fault::Request]), 3..10),
        ) {
            let models = ["a", "b", "c", "d"];
            let way = way(&models[..targets], &faults);
            prop_assert!(way.len() <= MOST_TRIES as usize);
            let pairs = way.windows(2).zip(&faults);
            for (pair, fault) in pairs {
                prop_assert!(pair[0] != pair[1] || (*fault == Fault::Vendor));
            }
        }
    }
}
