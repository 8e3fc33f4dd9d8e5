//! Which lists of thresholds make sense.

use super::{Effect, Enforcement, Percent, Threshold};
use crate::period::Period;
use signalbox_types::{FieldViolation, Tier};

/// Most thresholds of a budget.
const MOST: usize = 32;

pub(super) fn violations(
    list: &[Threshold],
    period: Period,
    enforcement: Enforcement,
) -> Vec<FieldViolation> {
    let mut found = Vec::new();
    if list.len() > MOST {
        found
            .push(violation("thresholds".to_owned(), format!("{} are too many; at most {MOST}", list.len())));
    }
    for (index, threshold) in list.iter().enumerate().take(MOST) {
        let mut add = |field: &str, description: Option<String>| {
            found.extend(description.map(|text| violation(format!("thresholds[{index}].{field}"), text)));
        };
        let before = &list[..index];
        add("used_share", used_share(threshold, before));
        add("before_elapsed_share", elapsed_share(threshold, period));
        add("action", action(threshold, before, enforcement));
        add("tier", tier(threshold));
    }
    found
}

fn violation(field: String, description: String) -> FieldViolation {
    FieldViolation { field, description }
}

fn is_share(share: f64) -> bool {
    share > 0.0 && share <= 1.0
}

fn used_share(threshold: &Threshold, before: &[Threshold]) -> Option<String> {
    let share = threshold.used_share;
    if !is_share(share) {
        return Some(format!("{share} is not a share above 0 and at most 1, as in 0.9"));
    }
    let last = before.last()?.used_share;
    if share == last {
        return Some(format!("{} is there already; no two may be alike", Percent(share)));
    }
    (share < last)
        .then(|| format!("{} comes after {}; list them in rising order", Percent(share), Percent(last)))
}

fn elapsed_share(threshold: &Threshold, period: Period) -> Option<String> {
    let share = threshold.before_elapsed_share?;
    if period == Period::Prepaid {
        return Some(
            "a prepaid budget has no period of which a share could have passed; leave it out".to_owned(),
        );
    }
    (!is_share(share)).then(|| format!("{share} is not a share above 0 and at most 1, as in 0.5"))
}

fn action(threshold: &Threshold, before: &[Threshold], enforcement: Enforcement) -> Option<String> {
    if threshold.effect == Effect::Refuse && enforcement == Enforcement::Soft {
        return Some("a soft budget never refuses; make it a hard one, or choose another action".to_owned());
    }
    let index = before.iter().position(|earlier| hides(earlier, threshold))?;
    Some(format!(
        "never acts: thresholds[{index}] is in force whenever this one is, and does as much or more"
    ))
}

/// Whether a threshold that is reached earlier leaves nothing to do for a later one.
fn hides(earlier: &Threshold, later: &Threshold) -> bool {
    let holds_as_long = match (earlier.before_elapsed_share, later.before_elapsed_share) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(earlier), Some(later)) => earlier >= later,
    };
    later.effect.acts() && holds_as_long && earlier.effect >= later.effect
}

fn tier(threshold: &Threshold) -> Option<String> {
    (threshold.effect == Effect::LimitTier(Tier::Premium)).then(|| {
        "premium is the best tier, so nothing would be left out; name standard or economy".to_owned()
    })
}
