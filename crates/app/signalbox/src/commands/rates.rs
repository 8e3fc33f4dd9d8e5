//! Rate limits as people type and read them.

use signalbox_api::v1;

/// How much at a time; what is left out, or 0, is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::Args)]
pub(super) struct RateArgs {
    /// Requests a minute; 0 for any number
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<u32>,
    /// Tokens a minute, prompt and answer together; 0 for any number
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<u64>,
    /// Requests under way at once; 0 for any number
    #[arg(long, value_name = "N")]
    concurrent_requests: Option<u32>,
}

impl RateArgs {
    /// The limits, where anything is said of them.
    pub(super) fn limit(self) -> Option<v1::RateLimit> {
        (self != Self::default()).then(|| self.over(v1::RateLimit::default()))
    }

    /// What was said, laid over what was.
    pub(super) fn over(self, was: v1::RateLimit) -> v1::RateLimit {
        v1::RateLimit {
            requests_per_minute: self.requests_per_minute.unwrap_or(was.requests_per_minute),
            tokens_per_minute: self.tokens_per_minute.unwrap_or(was.tokens_per_minute),
            concurrent_requests: self.concurrent_requests.unwrap_or(was.concurrent_requests),
        }
    }

    /// Whether anything is said.
    pub(super) fn is_said(self) -> bool {
        self != Self::default()
    }
}

/// Limits in words; nothing where there are none.
pub(super) fn shown(limit: Option<&v1::RateLimit>) -> String {
    let limit = limit.copied().unwrap_or_default();
    let told = [
        (u64::from(limit.requests_per_minute), "requests/min"),
        (limit.tokens_per_minute, "tokens/min"),
        (u64::from(limit.concurrent_requests), "at once"),
    ];
    let told = told.into_iter().filter(|(amount, _)| *amount > 0);
    told.map(|(amount, what)| format!("{amount} {what}")).collect::<Vec<_>>().join(", ")
}

/// Limits of a scene, as in `requests=10,tokens=1000,at-once=2,priority=1`.
pub(super) fn scene(text: &str) -> Result<v1::ScenePolicy, String> {
    let example = "as in `search: priority=1,requests=60,tokens=100000,at-once=4`";
    let (name, rules) =
        text.split_once(':').ok_or_else(|| format!("`{text}` is no rule of a scene {example}"))?;
    let mut policy = v1::ScenePolicy { scene: name.trim().to_owned(), ..v1::ScenePolicy::default() };
    let mut limit = v1::RateLimit::default();
    for rule in rules.split(',').map(str::trim).filter(|rule| !rule.is_empty()) {
        let (key, value) =
            rule.split_once('=').ok_or_else(|| format!("`{rule}` is no rule of a scene {example}"))?;
        let wrong = |_| format!("`{}` is no number for `{}`", value.trim(), key.trim());
        match key.trim() {
            "priority" => policy.priority = value.trim().parse().map_err(wrong)?,
            "requests" => limit.requests_per_minute = value.trim().parse().map_err(wrong)?,
            "tokens" => limit.tokens_per_minute = value.trim().parse().map_err(wrong)?,
            "at-once" => limit.concurrent_requests = value.trim().parse().map_err(wrong)?,
            other => return Err(format!("`{other}` is none of priority, requests, tokens and at-once")),
        }
    }
    policy.rate_limit = (limit != v1::RateLimit::default()).then_some(limit);
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenes_rules_are_read_in_any_order() {
        let found = scene("search: tokens=1000, priority=-2,requests=60").unwrap();
        let limit =
            v1::RateLimit { requests_per_minute: 60, tokens_per_minute: 1000, concurrent_requests: 0 };
        assert_eq!((found.scene.as_str(), found.priority, found.rate_limit), ("search", -2, Some(limit)));
        assert_eq!(scene("search:").unwrap().rate_limit, None);
        assert_eq!(shown(found.rate_limit.as_ref()), "60 requests/min, 1000 tokens/min");
        assert_eq!(shown(None), "");
    }

    #[test]
    fn what_is_no_rule_is_said_so() {
        assert!(scene("search").unwrap_err().contains("is no rule of a scene as in"));
        assert!(scene("search: fast").unwrap_err().contains("`fast` is no rule"));
        assert!(scene("search: speed=1").unwrap_err().contains("`speed` is none of"));
        assert!(scene("search: requests=-1").unwrap_err().contains("`-1` is no number for `requests`"));
    }
}
