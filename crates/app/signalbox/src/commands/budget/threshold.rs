//! Thresholds as people type and read them: `90% before 50%: tier economy`.

use crate::commands::tiers::{self, tier};
use signalbox_api::v1::{
    Tier,
    budget::{Action, Threshold},
};

const EXAMPLE: &str = "as in `90%: tier economy` or `90% before 50%: tier economy`";
const ACTIONS: &str =
    "notify, tier premium, tier standard, tier economy, cache-or-batch, free-only and refuse";

/// A threshold, as in `75%: notify` or `90% before 50%: tier economy`.
pub(super) fn threshold(text: &str) -> Result<Threshold, String> {
    let (when, what) = text.split_once(':').ok_or_else(|| format!("`{text}` is no threshold {EXAMPLE}"))?;
    let (used, elapsed) = match when.split_once(" before ") {
        Some((used, elapsed)) => (used, Some(share(elapsed)?)),
        None => (when, None),
    };
    let (action, tier) = action(what)?;
    Ok(Threshold {
        used_share: share(used)?,
        before_elapsed_share: elapsed,
        action: action.into(),
        tier: tier.into(),
    })
}

/// A share above 0 to 1, as in `90%` or `87.5%`.
fn share(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let problem = || format!("`{text}` is no share above 0% and up to 100%, {EXAMPLE}");
    let percent: f64 =
        text.strip_suffix('%').and_then(|number| number.trim().parse().ok()).ok_or_else(problem)?;
    if percent > 0.0 && percent <= 100.0 { Ok(percent / 100.0) } else { Err(problem()) }
}

fn action(text: &str) -> Result<(Action, Tier), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = match words.as_slice() {
        ["notify"] => (Action::Notify, Tier::Unspecified),
        ["tier", name] => (Action::LimitTier, tier(name)?),
        ["cache-or-batch"] => (Action::CacheOrBatchOnly, Tier::Unspecified),
        ["free-only"] => (Action::FreeOnly, Tier::Unspecified),
        ["refuse"] => (Action::Refuse, Tier::Unspecified),
        _ => return Err(format!("`{}` is nothing a threshold can do; there are {ACTIONS}", text.trim())),
    };
    Ok(found)
}

/// A threshold, as it is typed.
pub(super) fn shown(threshold: &Threshold) -> String {
    let before = threshold.before_elapsed_share.map(|share| format!(" before {}", percent(share)));
    let what = doing(threshold.action(), threshold.tier());
    format!("{}{}: {what}", percent(threshold.used_share), before.unwrap_or_default())
}

/// What is done, as it is typed.
pub(super) fn doing(action: Action, tier: Tier) -> String {
    match action {
        Action::Unspecified => String::new(),
        Action::Notify => "notify".to_owned(),
        Action::LimitTier => format!("tier {}", tiers::name(tier)),
        Action::CacheOrBatchOnly => "cache-or-batch".to_owned(),
        Action::FreeOnly => "free-only".to_owned(),
        Action::Refuse => "refuse".to_owned(),
    }
}

/// A share with as many decimals as it has, up to four.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_shown_as_it_is_typed() {
        for text in [
            "75%: notify",
            "90% before 50%: tier economy",
            "87.5%: tier standard",
            "95%: cache-or-batch",
            "99.9% before 12.25%: free-only",
            "100%: refuse",
        ] {
            assert_eq!(shown(&threshold(text).unwrap()), text);
        }
        assert_eq!(
            shown(&threshold("90 % before 50 % :  tier   ECONOMY ").unwrap()),
            "90% before 50%: tier economy"
        );
        assert_eq!(threshold("90%: notify").unwrap().used_share, 0.9);
    }

    #[test]
    fn what_is_no_threshold_is_said_so() {
        let problem = |text: &str| threshold(text).unwrap_err();
        assert!(
            problem("90%").contains("`90%` is no threshold as in `90%: tier economy`"),
            "{}",
            problem("90%")
        );
        for share in ["90", "0%", "-5%", "101%", "NaN%", "inf%", "%", ""] {
            assert!(problem(&format!("{share}: notify")).contains("is no share above 0%"), "{share}");
        }
        assert!(
            problem("90%: explode").contains("`explode` is nothing a threshold can do; there are notify")
        );
        assert!(problem("90%: tier cheap").contains("there is no tier `cheap`"));
        assert!(problem("90% before: notify").contains("is no share"));
    }
}
