//! What vendors say of failures. Some repeat the prompt or an answer in it.

use super::told;
use crate::catalog::{Catalog, NamedPolicy};
use signalbox_api::v1;
use signalbox_quality::content::Place;
use signalbox_types::Failure;
use std::sync::Arc;

/// What takes the place of a text that a rule blocks.
const WITHHELD: &str = "withheld by the content policy";

/// The rules for answers, applied to the texts of failures: those tell of vendors' words, too.
#[derive(Debug, Clone)]
pub struct ErrorTexts(Arc<NamedPolicy>);

impl ErrorTexts {
    /// Those of a tenant whose answers are looked at.
    pub fn of(catalog: &Catalog, tenant_id: &str) -> Option<Self> {
        let policy = catalog.content_policy(tenant_id)?;
        policy.rules.looks_at(Place::Output).then(|| Self(policy.clone()))
    }

    /// Redacts what a failure says, or withholds it; gives what was found. The failure stays what it is.
    pub fn look(&self, failure: &mut Failure) -> Vec<v1::ContentFinding> {
        let mut inspection = self.0.rules.inspect(Place::Output);
        let violations = failure.violations.iter_mut();
        let violated = violations.flat_map(|it| [&mut it.field, &mut it.description]);
        for text in [&mut failure.message, &mut failure.vendor_code].into_iter().chain(violated) {
            if let Some(redacted) = inspection.text(text) {
                *text = redacted;
            }
        }
        if inspection.blocked_by().is_some() {
            WITHHELD.clone_into(&mut failure.message);
            failure.vendor_code.clear();
            failure.violations.clear();
        }
        inspection.findings().map(|finding| told(&self.0, &finding)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, load_text};
    use signalbox_pricing::Day;
    use signalbox_types::ErrorReason;

    fn looked_at(rules: &str) -> (Failure, usize) {
        let text = format!("content_policy: p\ncontent_policies: {{p: {{rules: [{rules}]}}}}\n");
        let today = Day::parse("2026-11-29").unwrap();
        let loaded = load_text(&text, None, &Environment::default(), today).unwrap();
        let mut failure = Failure::invalid("messages[0]", "no ann@example.com here");
        failure.vendor_code = "zephyr".to_owned();
        let Some(texts) = ErrorTexts::of(&loaded.catalog, "") else { return (failure, 0) };
        let found = texts.look(&mut failure);
        (failure, found.len())
    }

    #[test]
    fn what_a_vendor_says_of_a_failure_is_redacted() {
        let (failure, found) = looked_at("{name: mail, pii: [email], action: redact}");
        assert_eq!(failure.message, "messages[0]: no [EMAIL] here");
        assert_eq!((failure.violations[0].description.as_str(), found), ("no [EMAIL] here", 1));
        assert_eq!((failure.reason, failure.vendor_code.as_str()), (ErrorReason::InvalidRequest, "zephyr"));
    }

    #[test]
    fn what_must_not_be_seen_is_withheld_as_a_whole() {
        let (failure, found) = looked_at("{name: code, words: [zephyr], action: block}");
        assert_eq!((failure.message.as_str(), failure.vendor_code.as_str()), (WITHHELD, ""));
        assert!(failure.violations.is_empty() && found == 1);
    }

    #[test]
    fn rules_for_prompts_alone_do_not_look_at_failures() {
        let (failure, _) = looked_at("{name: mail, pii: [email], action: redact, on: [input]}");
        assert!(failure.message.contains("ann@example.com"));
    }
}
