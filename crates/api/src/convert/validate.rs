//! Collects what is wrong with a request, so that a caller sees all of it at once.

use signalbox_types::{ErrorReason, Failure, FieldViolation};

/// More violations than this are counted, not listed.
const MOST_LISTED: usize = 20;

/// The violations found so far: the first ones, and how many more.
#[derive(Debug, Default)]
pub struct Violations {
    listed: Vec<FieldViolation>,
    more: usize,
}

impl Violations {
    /// Adds one.
    pub fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.check(false, || field, || description);
    }

    /// Adds one when a list is longer than it may be.
    pub fn at_most<F: Into<String>>(
        &mut self,
        count: usize,
        most: usize,
        what: &str,
        field: impl FnOnce() -> F,
    ) {
        self.check(count <= most, field, || format!("has {count} {what}, at most {most} are allowed"));
    }

    /// Adds one unless `holds`. The closures run only when it is listed: good requests format nothing.
    pub fn check<F: Into<String>, D: Into<String>>(
        &mut self,
        holds: bool,
        field: impl FnOnce() -> F,
        description: impl FnOnce() -> D,
    ) {
        if holds {
            return;
        }
        if self.listed.len() < MOST_LISTED {
            self.listed.push(FieldViolation { field: field().into(), description: description().into() });
        } else {
            self.more += 1;
        }
    }

    /// `Ok` when there are none.
    pub fn into_result(self) -> Result<(), Failure> {
        let Some(first) = self.listed.first() else {
            return Ok(());
        };
        let mut message = format!("{}: {}", first.field, first.description);
        let others = self.listed.len() - 1 + self.more;
        if others > 0 {
            message.push_str(&format!(" (and {others} more)"));
        }
        Err(Failure { violations: self.listed, ..Failure::new(ErrorReason::InvalidRequest, message) })
    }
}

/// A wire enumeration's value, or a violation when this build does not know it.
pub fn known_enum<E: TryFrom<i32> + Default>(
    value: i32,
    field: impl Into<String>,
    violations: &mut Violations,
) -> E {
    E::try_from(value).unwrap_or_else(|_| {
        violations.add(field, format!("{value} is not a value this version knows"));
        E::default()
    })
}

/// `[a-zA-Z0-9_-]{1,64}`, the names that every vendor takes.
pub(super) fn is_plain_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}
