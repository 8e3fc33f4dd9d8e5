//! How often rules find something.

use std::ops::Range;

/// What was found in one text and is not counted yet. Stretches of one rule that overlap count once: an account's
/// number may look like a telephone's within.
#[derive(Debug, Default)]
pub(super) struct Tally {
    found: Vec<(usize, Range<usize>)>,
    /// The end of what is counted, by rule.
    counted: Vec<usize>,
}

impl Tally {
    pub(super) fn add(&mut self, rule: usize, range: Range<usize>) {
        self.found.push((rule, range));
    }

    /// Tells the rule of each finding that begins before what is `decided` for it.
    pub(super) fn settle(&mut self, decided: impl Fn(usize) -> usize, mut count: impl FnMut(usize)) {
        self.found.sort_by_key(|(rule, range)| (*rule, range.start, range.end));
        let counted = &mut self.counted;
        self.found.retain(|(rule, range)| {
            if range.start >= decided(*rule) {
                return true;
            }
            if counted.len() <= *rule {
                counted.resize(rule + 1, 0);
            }
            if let Some(end) = counted.get_mut(*rule) {
                if range.start >= *end {
                    count(*rule);
                }
                *end = range.end.max(*end);
            }
            false
        });
    }

    /// So many bytes of the text are gone from its beginning.
    pub(super) fn forget(&mut self, gone: usize) {
        self.counted.iter_mut().for_each(|end| *end = end.saturating_sub(gone));
        for (_, range) in &mut self.found {
            *range = range.start.saturating_sub(gone)..range.end.saturating_sub(gone);
        }
    }
}
