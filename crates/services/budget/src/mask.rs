//! Which fields an update changes.

use prost_types::FieldMask;
use signalbox_api::convert::Violations;
use signalbox_types::shown;

/// A field that can be updated: its name, whether it is set, and how it gets from one message into another.
pub(crate) struct Field<M> {
    /// As the mask names it.
    pub(crate) name: &'static str,
    /// Whether a message says something of it.
    pub(crate) is_set: fn(&M) -> bool,
    /// Takes it over from the first message into the second.
    pub(crate) copy: fn(&M, &mut M),
}

/// Makes a [`Field`] of a field that is set when it is not at its default.
macro_rules! field {
    ($message:ty, $name:ident) => {
        $crate::mask::Field::<$message> {
            name: stringify!($name),
            is_set: |message| message.$name != <$message>::default().$name,
            copy: |from, to| to.$name.clone_from(&from.$name),
        }
    };
}
pub(crate) use field;

/// Takes over the fields that a mask names: all that are set, where there is no mask; all, where it is `*`. Names that
/// the mask should not have are violations.
pub(crate) fn apply<M>(
    fields: &[Field<M>],
    mask: Option<&FieldMask>,
    from: &M,
    to: &mut M,
    violations: &mut Violations,
) {
    let paths = mask.map(|mask| mask.paths.as_slice()).unwrap_or_default();
    let every = paths.iter().any(|path| path == "*");
    for field in fields {
        let named = match paths {
            [] => (field.is_set)(from),
            paths => every || paths.iter().any(|path| path == field.name),
        };
        if named {
            (field.copy)(from, to);
        }
    }
    for (index, path) in paths.iter().enumerate().filter(|(_, path)| *path != "*") {
        let known = fields.iter().any(|field| field.name == path);
        violations.check(known, || format!("update_mask.paths[{index}]"), || unknown(path, fields));
    }
}

fn unknown<M>(path: &str, fields: &[Field<M>]) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    format!("`{}` cannot be updated: name one of {}, or `*` for all", shown(path), names.join(", "))
}
