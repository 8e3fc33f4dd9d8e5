//! The process's environment, handed in.

use std::{collections::BTreeMap, fmt};

/// Environment variables. The program hands in those of the process; tests hand in their own.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// From pairs of name and value, as `std::env::vars` gives them.
    pub fn new<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// The value of a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The first of several variables that is set.
    pub fn first<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<&str> {
        self.first_named(names).map(|(_, value)| value)
    }

    /// The same, with its name.
    pub(crate) fn first_named<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<(&'n str, &str)> {
        names.into_iter().find_map(|name| Some((name, self.get(name)?)))
    }

    /// The names of those that are set.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, value)| !value.trim().is_empty()).map(|(name, _)| name.as_str())
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A secret: never shown, only exposed on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for a header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
