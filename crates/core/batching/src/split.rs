//! How a window is divided that its vendor refuses for what may be the fault of one item.

/// A window and all that it was divided into are refused so often at most: a vendor that takes nothing at all is not asked
/// for each item. Enough for a dozen bad items among fifty thousand.
const MOST_REFUSALS: u64 = 256;

/// How many of a refused window's items go into the first of two windows; `None` where it is not divided, since it holds
/// one item, or since what it was part of was refused too often. `refusals` counts those before this one.
pub fn first_half(items: u64, refusals: u64) -> Option<u64> {
    (items > 1 && refusals < MOST_REFUSALS).then(|| items.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeSet, VecDeque};

    /// The items that are refused when a vendor refuses each window that holds a bad one, and how often it does.
    fn refused(items: u64, bad: &BTreeSet<u64>) -> (BTreeSet<u64>, u64) {
        let (mut windows, mut refused, mut refusals) = (VecDeque::new(), BTreeSet::new(), 0);
        windows.push_back(0..items);
        while let Some(window) = windows.pop_front() {
            if bad.range(window.clone()).next().is_none() {
                continue;
            }
            match first_half(window.end - window.start, refusals) {
                Some(first) => {
                    let middle = window.start + first;
                    windows.extend([window.start..middle, middle..window.end]);
                }
                None => refused.extend(window),
            }
            refusals += 1;
        }
        (refused, refusals)
    }

    #[test]
    fn one_bad_item_stands_alone_after_as_many_steps_as_halves() {
        let bad = BTreeSet::from([31_337]);
        assert_eq!(refused(50_000, &bad), (bad, 17));
        assert_eq!(refused(1, &BTreeSet::from([0])).1, 1);
    }

    #[test]
    fn a_vendor_that_takes_nothing_is_not_asked_for_each_item() {
        let (all, refusals) = refused(50_000, &(0..50_000).collect());
        assert_eq!((all.len(), refusals), (50_000, 2 * MOST_REFUSALS + 1));
    }

    proptest! {
        #[test]
        fn a_dozen_bad_items_fail_alone(
            items in 1u64..50_000, bad in prop::collection::btree_set(0u64..50_000, 0..12),
        ) {
            let bad: BTreeSet<u64> = bad.into_iter().filter(|item| *item < items).collect();
            prop_assert_eq!(refused(items, &bad).0, bad);
        }
    }
}
