//! Bytes of many rows in one argument: each row says where its own begin and how many they are.

use serde::Serialize;

/// Rows in one statement.
const MOST_ROWS: usize = 2000;
/// Bytes in one statement, or those of a single row.
const MOST_BYTES: usize = 8 << 20;

/// Where the bytes of a row are, for `signalbox_sql::Engine::slice`.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Piece {
    /// From 1.
    start: usize,
    size: usize,
}

/// Columns of a piece.
pub(crate) const COLUMNS: &str = "start int, size int";

/// Rows that go into one statement.
#[derive(Debug, Clone)]
pub(crate) struct Pack<R> {
    pub(crate) rows: Vec<R>,
    pub(crate) bytes: Vec<u8>,
}

/// Deals rows with their bytes to as many statements as they need.
pub(crate) fn packs<'a, T: 'a, R>(
    from: impl IntoIterator<Item = &'a T>,
    bytes: impl Fn(&T) -> &[u8],
    row: impl Fn(&'a T, Piece) -> R,
) -> Vec<Pack<R>> {
    let mut packs: Vec<Pack<R>> = Vec::new();
    for each in from {
        let own = bytes(each);
        let fits = |pack: &Pack<R>| pack.rows.len() < MOST_ROWS && pack.bytes.len() + own.len() <= MOST_BYTES;
        if !packs.last().is_some_and(fits) {
            packs.push(Pack { rows: Vec::new(), bytes: Vec::new() });
        }
        let Some(pack) = packs.last_mut() else { continue };
        pack.rows.push(row(each, Piece { start: pack.bytes.len() + 1, size: own.len() }));
        pack.bytes.extend_from_slice(own);
    }
    packs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_finds_its_own_bytes_and_no_statement_is_too_large() {
        let sizes = [0, 3 << 20, 5 << 20, 1, 9 << 20, 2].map(|size| vec![7_u8; size]);
        let packs = packs(&sizes, |bytes| bytes, |bytes, piece| (bytes.len(), piece));
        assert_eq!(packs.iter().map(|pack| pack.rows.len()).collect::<Vec<_>>(), [3, 1, 1, 1]);
        for pack in packs {
            let mut start = 1;
            for (size, piece) in pack.rows {
                assert_eq!((piece.start, piece.size), (start, size));
                start += size;
            }
            assert_eq!(pack.bytes.len(), start - 1);
        }
    }

    #[test]
    fn many_small_rows_are_dealt_too() {
        let rows = vec![Vec::new(); 4001];
        let packs = packs(&rows, |bytes| bytes, |_, piece| piece);
        assert_eq!(packs.iter().map(|pack| pack.rows.len()).collect::<Vec<_>>(), [2000, 2000, 1]);
    }
}
