//! What jobs, items and windows may be called.

use std::{fmt, str::FromStr};

/// Most characters of an id.
pub const LONGEST_ID: usize = 64;

/// Why an id is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadId {
    /// It says nothing.
    #[error("is empty")]
    Empty,
    /// It is too long.
    #[error("has {0} characters; at most 64 are allowed")]
    Long(usize),
    /// It holds something else than letters, digits, `_` and `-`.
    #[error("may hold a-z, A-Z, 0-9, `_` and `-` only")]
    Character,
}

/// Whether this may be the id of a job, an item or a vendor's batch: 1 to 64 of a-z, A-Z, 0-9, `_`, `-`.
///
/// ```
/// # use signalbox_batching::{BadId, check_id};
/// assert_eq!(check_id("night-2026-11-30"), Ok(()));
/// assert_eq!(check_id("night 1"), Err(BadId::Character));
/// ```
///
/// # Errors
/// See [`BadId`].
pub fn check_id(id: &str) -> Result<(), BadId> {
    let length = id.chars().count();
    match length {
        0 => Err(BadId::Empty),
        _ if length > LONGEST_ID => Err(BadId::Long(length)),
        _ if id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) => Ok(()),
        _ => Err(BadId::Character),
    }
}

/// Names an item among those of all jobs, and to a vendor, who is told neither job nor tenant. As text it is `17-3`: of
/// job 17, item 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey {
    /// The store's number of the job.
    pub job: i64,
    /// Its place in the job, from 0.
    pub item: i64,
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.job, self.item)
    }
}

/// What a vendor gave back is no item's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no key of an item")]
pub struct NoItemKey;

impl FromStr for ItemKey {
    type Err = NoItemKey;

    fn from_str(text: &str) -> Result<Self, NoItemKey> {
        let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits.parse::<i64>().map_err(|_| NoItemKey),
            false => Err(NoItemKey),
        };
        let (job, item) = text.split_once('-').ok_or(NoItemKey)?;
        let key = Self { job: number(job)?, item: number(item)? };
        // One key, one name.
        if key.to_string() == text { Ok(key) } else { Err(NoItemKey) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_is_refused_for_what_is_wrong_with_it() {
        assert_eq!(check_id(""), Err(BadId::Empty));
        assert_eq!(check_id(&"a".repeat(64)), Ok(()));
        assert_eq!(check_id(&"ä".repeat(65)), Err(BadId::Long(65)));
        for id in ["a b", "ä", "a.b", "a/b", "a\0"] {
            assert_eq!(check_id(id), Err(BadId::Character), "{id}");
        }
    }

    #[test]
    fn what_only_looks_like_a_key_is_none() {
        for text in ["", "-", "1", "1-", "-1-2", "01-2", "1-+2", "1-2-3", "1-99999999999999999999"] {
            assert_eq!(text.parse::<ItemKey>(), Err(NoItemKey), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_key_is_an_id_and_read_again_as_written(job in 0..=i64::MAX, item in 0..=i64::MAX) {
            let key = ItemKey { job, item };
            prop_assert_eq!(check_id(&key.to_string()), Ok(()));
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }
    }
}
