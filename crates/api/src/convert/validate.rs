//! Collects what is wrong with a request, so that a caller sees all of it at once.

use signalbox_types::{ErrorReason, Failure, FieldViolation};

/// More violations than this are counted, not listed.
const MOST_LISTED: usize = 20;

/// The violations found so far.
#[derive(Debug, Default)]
pub(super) struct Violations(Vec<FieldViolation>);

impl Violations {
    /// Adds one.
    pub(super) fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.0.push(FieldViolation { field: field.into(), description: description.into() });
    }

    /// Adds one unless `holds`. The closures run only when it does not: good requests format nothing.
    pub(super) fn check<F: Into<String>, D: Into<String>>(
        &mut self,
        holds: bool,
        field: impl FnOnce() -> F,
        description: impl FnOnce() -> D,
    ) {
        if !holds {
            self.add(field(), description());
        }
    }

    /// `Ok` when there are none.
    pub(super) fn into_result(mut self) -> Result<(), Failure> {
        let Some(first) = self.0.first() else {
            return Ok(());
        };
        let mut message = format!("{}: {}", first.field, first.description);
        if self.0.len() > 1 {
            message.push_str(&format!(" (and {} more)", self.0.len() - 1));
        }
        self.0.truncate(MOST_LISTED);
        Err(Failure { violations: self.0, ..Failure::new(ErrorReason::InvalidRequest, message) })
    }
}

/// A wire enumeration's value, or a violation when this build does not know it.
pub(super) fn known_enum<E: TryFrom<i32> + Default>(
    value: i32,
    field: &str,
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
