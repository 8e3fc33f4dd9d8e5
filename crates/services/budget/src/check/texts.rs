//! Ids, texts and amounts.

use signalbox_api::convert::Violations;
use signalbox_types::shown;

/// Most bytes of an id that others made up.
const LONGEST_ID: usize = 256;
/// Most bytes of a reason.
const LONGEST_REASON: usize = 1_024;

/// An id of ours: 1 to 64 of `a-z`, `0-9`, `_`, `-`.
pub(crate) fn plain_id(id: &str, field: &str, violations: &mut Violations) {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    let good = (1..=64).contains(&id.len()) && id.bytes().all(plain);
    violations.check(
        good,
        || field,
        || match id {
            "" => "is required".to_owned(),
            id => format!("`{}` is not 1 to 64 of a-z, 0-9, `_`, `-`", shown(id)),
        },
    );
}

/// An id that somebody else made up.
pub(crate) fn required(id: &str, field: &str, violations: &mut Violations) {
    violations.check(!id.is_empty(), || field, || "is required");
    text(id, LONGEST_ID, field, violations);
}

/// A text for people, or one that is only compared.
pub(crate) fn text(text: &str, longest: usize, field: &str, violations: &mut Violations) {
    violations.check(text.len() <= longest, || field, || format!("has more than {longest} bytes"));
    violations.check(!text.contains(char::is_control), || field, || "has a control character");
}

/// Why something is done.
pub(crate) fn reason(reason: &str, violations: &mut Violations) {
    text(reason, LONGEST_REASON, "reason", violations);
}

/// An amount of money.
pub(crate) fn amount(nano_eur: i64, field: &str, violations: &mut Violations) {
    violations.check(nano_eur >= 0, || field, || format!("must not be negative, and is {nano_eur}"));
    // Sums of a few of them must not overflow.
    violations.check(nano_eur <= i64::MAX / 8, || field, || "is more than one billion euros");
}
