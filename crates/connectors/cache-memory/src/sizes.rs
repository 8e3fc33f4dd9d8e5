//! What things take in memory, rather too much than too little.

use std::mem::size_of;

/// What an allocation of so many bytes takes: allocators round up and keep notes.
pub(crate) const fn allocated(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes.next_multiple_of(16) + 16 }
}

/// An ordered hash table with room for so many: the items with their hashes in a row, and an index of numbers. The
/// index is counted double, since it may grow once for what was removed.
pub(crate) fn indexed<K, V>(capacity: usize) -> usize {
    if capacity == 0 {
        return 0;
    }
    let items = capacity * (size_of::<K>() + size_of::<V>() + size_of::<usize>()).next_multiple_of(8);
    let buckets = (capacity * 8).div_ceil(7).next_power_of_two().max(4);
    allocated(items) + allocated(2 * buckets * (size_of::<usize>() + 1) + 16)
}

/// One item of a common hash table, at the worst moment of its growth.
pub(crate) const fn hashed<K, V>() -> usize {
    4 * (size_of::<K>() + size_of::<V>() + 1)
}
