//! What is wrong with a request, all of it at once.

use signalbox_types::{ErrorReason, Failure, FieldViolation};

/// More than these are counted, not listed.
const MOST_LISTED: usize = 20;

/// The violations found so far.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    listed: Vec<FieldViolation>,
    more: usize,
}

impl Violations {
    /// Adds one.
    pub(crate) fn add(&mut self, field: &str, description: impl Into<String>) {
        if self.listed.len() < MOST_LISTED {
            self.listed.push(FieldViolation { field: field.to_owned(), description: description.into() });
        } else {
            self.more += 1;
        }
    }

    /// Adds one unless `holds`.
    pub(crate) fn check<D: Into<String>>(
        &mut self,
        holds: bool,
        field: &str,
        description: impl FnOnce() -> D,
    ) {
        if !holds {
            self.add(field, description());
        }
    }

    /// `Ok` when there are none.
    pub(crate) fn into_result(self) -> Result<(), Failure> {
        let Some(first) = self.listed.first() else { return Ok(()) };
        let mut message = format!("{}: {}", first.field, first.description);
        let others = self.listed.len() - 1 + self.more;
        if others > 0 {
            message.push_str(&format!(" (and {others} more)"));
        }
        Err(Failure { violations: self.listed, ..Failure::new(ErrorReason::InvalidRequest, message) })
    }
}

/// Adds a violation for a value of an enumeration that this version does not know.
pub(crate) fn known<E: TryFrom<i32>>(value: i32, field: &str, violations: &mut Violations) -> Option<E> {
    let known = E::try_from(value).ok();
    violations.check(known.is_some(), field, || format!("{value} is not a value this version knows"));
    known
}
