//! Pages of a list.

/// A part of a list, and whether more comes after it.
#[derive(Debug)]
pub(crate) struct Page<'a, T> {
    pub(crate) items: Vec<&'a T>,
    pub(crate) more: bool,
}

impl<'a, T> Page<'a, T> {
    /// What comes after the entry `after`, at most `limit` long. An entry that is not there counts as the last.
    pub(crate) fn after(all: &[&'a T], after: Option<&str>, limit: usize, id: impl Fn(&T) -> &str) -> Self {
        let from = match after {
            None => 0,
            Some(after) => all.iter().position(|entry| id(entry) == after).map_or(all.len(), |at| at + 1),
        };
        Self::at(all, from, limit)
    }

    /// What comes just before the entry `before`, at most `limit` long.
    pub(crate) fn before(all: &[&'a T], before: &str, limit: usize, id: impl Fn(&T) -> &str) -> Self {
        let until = all.iter().position(|entry| id(entry) == before).unwrap_or(0);
        let from = until.saturating_sub(limit);
        Self { items: all.iter().take(until).skip(from).copied().collect(), more: from > 0 }
    }

    /// What comes from the place `from` on, at most `limit` long.
    pub(crate) fn at(all: &[&'a T], from: usize, limit: usize) -> Self {
        let items: Vec<&T> = all.iter().skip(from).take(limit).copied().collect();
        Self { more: from + items.len() < all.len(), items }
    }
}
