//! Where an item goes that was not answered.

use crate::Target;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often an item is tried that may have to be paid for each time.
pub const MOST_TRIES: u32 = 3;
/// How often an item is tried anew, after a pause, once everybody who may serve it has failed: with growing pauses that is
/// spread over most of a day.
pub const MOST_TURNS: u32 = 16;
/// The pause before the first new turn; each next one is twice as long,
const PAUSE: Duration = Duration::from_mins(2);
/// but never longer than this,
const LONGEST_PAUSE: Duration = Duration::from_hours(2);
/// nor than one in so many of the time that is left.
const SHARE_OF_TIME: u32 = 3;
/// Items that wait for about as long travel together.
const STEP: u64 = 60;

/// Who may serve an item, in order of preference, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    targets: Vec<Target>,
    at: usize,
    tries: u32,
    answered_badly: bool,
    /// Pauses after everybody had failed.
    #[serde(default)]
    turns: u32,
    /// Seconds since 1970; 0 where it need not wait.
    #[serde(default)]
    not_before: u64,
}

/// Why an item was not answered where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The vendor failed or ran out of time, for nothing: it may do better later, another may do better now.
    Vendor,
    /// Nobody knows what the vendor did of it, so that it may have to be paid for.
    Lost,
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
        (!targets.is_empty()).then_some(Self {
            targets,
            at: 0,
            tries: 1,
            answered_badly: false,
            turns: 0,
            not_before: 0,
        })
    }

    /// Where it is, or waits to go.
    pub fn target(&self) -> &Target {
        &self.targets[self.at]
    }

    /// All who may serve it.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// How often it has been tried that may have to be paid for, this time included.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// When it may go there; `None` for at once.
    pub fn not_before(&self) -> Option<SystemTime> {
        (self.not_before > 0).then(|| UNIX_EPOCH + Duration::from_secs(self.not_before))
    }

    /// How it goes on after a fault; none where it ends. A vendor that failed is tried again after the others, also
    /// where there are no others, and after a pause; a target that does not take the item never; a bad answer leads to
    /// one try elsewhere.
    #[must_use]
    pub fn after(&self, fault: Fault, now: SystemTime, complete_by: SystemTime) -> Option<Self> {
        let pays = matches!(fault, Fault::Answer | Fault::Lost);
        let may_go_on = now < complete_by && !(pays && self.tries >= MOST_TRIES);
        if fault == Fault::Request || !may_go_on || (fault == Fault::Answer && self.answered_badly) {
            return None;
        }
        let mut next = self.clone();
        if matches!(fault, Fault::Vendor | Fault::Lost) {
            next.at += 1;
        } else {
            next.targets.remove(self.at);
        }
        let all_failed = next.at >= next.targets.len();
        next.at = next.at.checked_rem(next.targets.len())?;
        next.tries += u32::from(pays);
        next.answered_badly |= fault == Fault::Answer;
        next.not_before = 0;
        if all_failed { next.turn(now, complete_by) } else { Some(next) }
    }

    /// Everybody has failed: once more after a pause.
    fn turn(mut self, now: SystemTime, complete_by: SystemTime) -> Option<Self> {
        if self.turns >= MOST_TURNS {
            return None;
        }
        let left = complete_by.duration_since(now).unwrap_or_default();
        let own = PAUSE.saturating_mul(2_u32.saturating_pow(self.turns)).min(LONGEST_PAUSE);
        let from = now + own.min(left / SHARE_OF_TIME);
        let seconds = from.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // A job with little time waits to the second.
        let step = if left / SHARE_OF_TIME > PAUSE { STEP } else { 1 };
        self.not_before = seconds.div_ceil(step) * step;
        self.turns += 1;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lane;
    use proptest::prelude::*;

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
    fn a_vendors_fault_leads_on_and_back_again() {
        use Fault::Vendor;
        assert_eq!(way(&["a", "b"], &[Vendor, Vendor]), ["a", "b", "a"]);
        assert_eq!(way(&["a"], &[Vendor, Vendor]), ["a", "a", "a"]);
    }

    /// When it is tried, in seconds, where everybody always fails.
    fn times(models: &[&str], seconds: u64) -> Vec<u64> {
        let complete_by = UNIX_EPOCH + Duration::from_secs(seconds);
        let (mut now, mut trail, mut times) = (UNIX_EPOCH, trail(models), vec![0]);
        while let Some(next) = trail.after(Fault::Vendor, now, complete_by) {
            now = next.not_before().unwrap_or(now).max(now);
            times.push(now.duration_since(UNIX_EPOCH).unwrap().as_secs());
            trail = next;
        }
        times
    }

    #[test]
    fn a_vendors_fault_that_lasts_is_waited_for_over_most_of_a_day() {
        let times = times(&["a"], 24 * 3600);
        assert_eq!(times[..5], [0, 120, 360, 840, 1800]);
        assert_eq!(times.len(), 1 + MOST_TURNS as usize);
        assert!((18 * 3600..24 * 3600).contains(times.last().unwrap()), "{times:?}");
    }

    #[test]
    fn another_target_is_not_waited_for_and_a_job_with_little_time_waits_less() {
        assert_eq!(times(&["a", "b"], 24 * 3600)[..4], [0, 0, 120, 120]);
        let times = times(&["a"], 60);
        assert_eq!(times[..3], [0, 20, 33]);
        assert!(*times.last().unwrap() <= 60, "{times:?}");
    }

    #[test]
    fn what_may_have_to_be_paid_for_is_tried_three_times_in_all() {
        use Fault::{Lost, Vendor};
        assert_eq!(way(&["a"], &[Lost, Lost, Lost]), ["a", "a", "a"]);
        assert_eq!(way(&["a"], &[Lost, Vendor, Lost, Vendor, Lost]).len(), 5);
    }

    #[test]
    fn a_trail_from_before_there_were_pauses_is_read() {
        let kept = r#"{"targets":[{"vendor":"v","model":"a","lane":"batch"}],"at":0,"tries":1,"answered_badly":false}"#;
        assert_eq!(serde_json::from_str::<Trail>(kept).unwrap(), trail(&["a"]));
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
                vec![Fault::Vendor, Fault::Lost, Fault::Target, Fault::Answer, Fault::Request]), 3..90),
        ) {
            let models = ["a", "b", "c", "d"];
            let way = way(&models[..targets], &faults);
            prop_assert!(way.len() <= targets * (2 + MOST_TURNS as usize));
            let pairs = way.windows(2).zip(&faults);
            for (pair, fault) in pairs {
                prop_assert!(pair[0] != pair[1] || matches!(fault, Fault::Vendor | Fault::Lost));
            }
        }
    }
}
