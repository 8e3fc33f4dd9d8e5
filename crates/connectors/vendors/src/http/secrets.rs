//! Keeps a vendor's key out of what the vendor says: some repeat the request's headers in their errors.

use crate::{failures::LONGEST_MESSAGE, urls::in_url};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use regex_automata::meta::Regex;
use signalbox_types::{Completion, Failure, ModelAnswer};
use std::{collections::BTreeSet, fmt};

/// What takes a secret's place.
const MASK: &str = "<secret>";
/// Shorter keys are masked as whole words only, and in no encoding: they may be words, or parts of words.
const SHORT: usize = 8;
/// From here on, the beginning of a key at the end of a message that was cut there is masked too.
const TELLING: usize = 4;

/// A vendor entry's key in the forms that are looked for: as it is, and URL-encoded, within JSON and in base64 (alone
/// or after other text, as in `Basic` credentials). What a vendor has shortened itself is not found.
#[derive(Default)]
pub(super) struct Secrets {
    key: String,
    forms: Option<Regex>,
}

impl Secrets {
    /// Those of an entry with this key.
    pub(super) fn of(key: Option<&str>) -> Result<Self, String> {
        let Some(key) = key else { return Ok(Self::default()) };
        let forms = Regex::new(&pattern(key)).map_err(|_| "api_key is too long to be masked".to_owned())?;
        Ok(Self { key: key.to_owned(), forms: Some(forms) })
    }

    /// A failure without them.
    pub(super) fn mask_failure(&self, failure: &mut Failure) {
        self.mask(&mut failure.message);
        self.mask(&mut failure.vendor_code);
        self.mask(&mut failure.vendor_request_id);
        for violation in &mut failure.violations {
            self.mask(&mut violation.field);
            self.mask(&mut violation.description);
        }
    }

    /// What an answer says beside its content.
    pub(super) fn mask_answer(&self, answer: &mut ModelAnswer) {
        for text in [&mut answer.id, &mut answer.model, &mut answer.vendor_finish_reason] {
            self.mask(text);
        }
    }

    /// The same of an answer that streamed.
    pub(super) fn mask_completion(&self, done: &mut Completion) {
        for text in [&mut done.id, &mut done.model, &mut done.vendor_finish_reason] {
            self.mask(text);
        }
    }

    /// A text without them.
    pub(super) fn mask(&self, text: &mut String) {
        let Some(forms) = &self.forms else { return };
        if forms.is_match(text.as_str()) {
            *text = self.masked(forms, text);
        }
        if text.len() >= LONGEST_MESSAGE
            && let Some(cut) = self.cut_off(text)
        {
            text.truncate(cut);
            text.push_str(MASK);
        }
    }

    fn masked(&self, forms: &Regex, text: &str) -> String {
        let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
        for found in forms.find_iter(text) {
            masked.push_str(text.get(from..found.start()).unwrap_or_default());
            masked.push_str(MASK);
            from = found.end();
        }
        masked.push_str(text.get(from..).unwrap_or_default());
        masked
    }

    /// Where the key begins that was cut with the message.
    fn cut_off(&self, text: &str) -> Option<usize> {
        let lengths = (TELLING..self.key.len()).rev();
        let starts = lengths.filter_map(|length| self.key.get(..length));
        starts.filter(|start| text.ends_with(start)).map(|start| text.len() - start.len()).next()
    }
}

/// Nothing of them.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// The longer forms go first: one may be part of another.
fn pattern(key: &str) -> String {
    if key.len() < SHORT {
        return format!(r"\b{{start-half}}{}\b{{end-half}}", regex_syntax::escape(key));
    }
    let mut forms: Vec<String> = forms(key).into_iter().map(|form| regex_syntax::escape(&form)).collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    // Hexadecimal digits of URLs come in either case, and a header's value may have been lowered.
    format!("(?i:{})", forms.join("|"))
}

fn forms(key: &str) -> BTreeSet<String> {
    let json = serde_json::Value::from(key).to_string();
    let json = json.trim_matches('"');
    let mut forms = BTreeSet::from([key.to_owned(), json.to_owned(), json.replace('/', "\\/"), in_url(key)]);
    for before in 0..3 {
        forms.insert(within(key, before, |bytes| STANDARD_NO_PAD.encode(bytes)));
        forms.insert(within(key, before, |bytes| URL_SAFE_NO_PAD.encode(bytes)));
    }
    forms
}

/// What base64 makes of the key after so many bytes of something else: each character holds six bits, and those that
/// are not all the key's are left out.
fn within(key: &str, before: usize, encode: impl Fn(&[u8]) -> String) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(key.as_bytes());
    let encoded = encode(&bytes);
    let shared = usize::from(!bytes.len().is_multiple_of(3));
    encoded.get(before + usize::from(before > 0)..encoded.len() - shared).unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_types::ErrorReason;

    fn masked(key: &str, text: &str) -> String {
        let mut text = text.to_owned();
        Secrets::of(Some(key)).unwrap().mask(&mut text);
        text
    }

    #[test]
    fn a_key_is_masked_in_every_form_that_is_looked_for() {
        const KEY: &str = "sk/live+\"hunter2\"==";
        let basic = |user: &str| STANDARD_NO_PAD.encode(format!("{user}:{KEY}!"));
        for form in [
            KEY.to_owned(),
            in_url(KEY),
            in_url(KEY).to_lowercase(),
            serde_json::Value::from(KEY).to_string(),
            r#"sk\/live+\"hunter2\"=="#.to_owned(),
        ] {
            let told = masked(KEY, &format!("you sent Bearer {form}, twice: {form}"));
            assert_eq!(told.matches(MASK).count(), 2, "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
        for user in ["", "a", "ab", "abc"] {
            let told = masked(KEY, &basic(user));
            let left = told.replace(MASK, "");
            assert!(told.contains(MASK) && left.len() <= 10, "{told}");
        }
    }

    #[test]
    fn short_keys_are_masked_as_whole_words() {
        assert_eq!(masked("test", "key test, not testing or latest"), "key <secret>, not testing or latest");
    }

    #[test]
    fn a_key_that_was_cut_with_the_message_is_masked_as_far_as_it_is_there() {
        let long = "x".repeat(LONGEST_MESSAGE);
        assert_eq!(masked("sk-hunter2", &format!("{long} sk-hunt")), format!("{long} <secret>"));
        assert_eq!(masked("sk-hunter2", "no sk-hunt"), "no sk-hunt");
    }

    #[test]
    fn all_that_a_failure_says_is_masked_and_without_a_key_nothing_is() {
        let mut failure = Failure::invalid("sk-hunter2", "of sk-hunter2");
        failure.reason = ErrorReason::VendorAuth;
        failure.vendor_code = "sk-hunter2".to_owned();
        failure.vendor_request_id = "req sk-hunter2".to_owned();
        let as_it_was = failure.clone();
        Secrets::default().mask_failure(&mut failure);
        assert_eq!(failure, as_it_was);
        let secrets = Secrets::of(Some("sk-hunter2")).unwrap();
        secrets.mask_failure(&mut failure);
        let shown = format!("{failure:?} {secrets:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
