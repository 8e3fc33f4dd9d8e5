//! Who holds what of a limit.

use std::collections::BTreeMap;

/// What somebody holds. Counts of requests and tokens in sixty-thousandths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slice {
    until: u64,
    /// Requests that may still come back.
    pub(super) requests: u64,
    /// Tokens that may still come back.
    pub(super) tokens: u64,
    pub(super) permits: u32,
    /// Whether it was last taken by somebody of a lower priority.
    pub(super) low: bool,
}

/// Permits that are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Held {
    pub(super) all: u32,
    /// Of these, by lower priorities.
    pub(super) low: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Slices(BTreeMap<String, Slice>);

impl Slices {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Slice> {
        self.0.get_mut(name)
    }

    /// The slice of this name, from now on until then.
    pub(super) fn extend(&mut self, name: &str, until: u64) -> &mut Slice {
        let slice = self.0.entry(name.to_owned()).or_default();
        slice.until = until;
        slice
    }

    pub(super) fn expire(&mut self, now: u64) {
        self.0.retain(|_, slice| slice.until > now);
    }

    /// Lets no more come back than is used: the bucket has filled up for the rest, first for what ends first. As all
    /// that comes back was used ever since it was taken, it is as if it had never been taken.
    pub(super) fn fit(&mut self, part: impl Fn(&mut Slice) -> &mut u64, used: u64) {
        let mut slices: Vec<(&String, &mut Slice)> = self.0.iter_mut().collect();
        let returnable: u64 = slices.iter_mut().map(|(_, slice)| *part(slice)).sum();
        let Some(mut excess) = returnable.checked_sub(used).filter(|excess| *excess > 0) else { return };
        slices.sort_unstable_by_key(|(name, slice)| (slice.until, *name));
        for (_, slice) in slices {
            let part = part(slice);
            let cut = excess.min(*part);
            *part -= cut;
            excess -= cut;
        }
    }

    /// How many there are, with this one.
    pub(super) fn count_with(&self, name: &str) -> u64 {
        let others = self.0.len() - usize::from(self.0.contains_key(name));
        others as u64 + 1
    }

    /// Permits of all but this one.
    pub(super) fn permits_but(&self, name: &str) -> Held {
        self.others(name).fold(Held::default(), |held, slice| Held {
            all: held.all.saturating_add(slice.permits),
            low: held.low.saturating_add(if slice.low { slice.permits } else { 0 }),
        })
    }

    /// When the first of all but this one ends that has a permit.
    pub(super) fn next_end_but(&self, name: &str) -> Option<u64> {
        self.others(name).filter(|slice| slice.permits > 0).map(|slice| slice.until).min()
    }

    fn others<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Slice> + 'a {
        self.0.iter().filter(move |(other, _)| other.as_str() != name).map(|(_, slice)| slice)
    }
}
