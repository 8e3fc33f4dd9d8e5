//! Ways to cut the same bytes.

/// Feeds `body` to `feed` in pieces: cut by `cuts` over and over, until `feed` says that it has had enough.
fn in_pieces(body: &[u8], mut cuts: impl FnMut() -> usize, feed: &mut impl FnMut(&[u8]) -> bool) {
    let mut rest = body;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(cuts().clamp(1, rest.len()));
        if !feed(piece) {
            return;
        }
        rest = after;
    }
}

/// What `read` makes of a body that comes whole, which must be what it makes of the body in single bytes and in pieces
/// of any size. `read` is handed a function that feeds the body to a function of its own.
pub fn same_however_cut<T: PartialEq + std::fmt::Debug>(body: &[u8], read: impl Fn(Feeder<'_>) -> T) {
    let whole = read(Feeder { body, cut: Cut::Whole });
    for cut in [Cut::Bytes, Cut::Pieces] {
        let cut_up = read(Feeder { body, cut });
        assert_eq!(whole, cut_up, "whole on the left, {cut:?} on the right");
    }
}

/// A body and a way to cut it.
#[derive(Clone, Copy)]
pub struct Feeder<'a> {
    body: &'a [u8],
    cut: Cut,
}

#[derive(Debug, Clone, Copy)]
enum Cut {
    Whole,
    Bytes,
    Pieces,
}

impl Feeder<'_> {
    /// Feeds the body, until `feed` says that it has had enough.
    pub fn feed(self, mut feed: impl FnMut(&[u8]) -> bool) {
        match self.cut {
            Cut::Whole => in_pieces(self.body, || usize::MAX, &mut feed),
            Cut::Bytes => in_pieces(self.body, || 1, &mut feed),
            Cut::Pieces => in_pieces(self.body, sizes(self.body), &mut feed),
        }
    }
}

/// Sizes from 1 to 32 that depend on the body alone: an input found once fails again, and the seeds need no extra byte.
fn sizes(body: &[u8]) -> impl FnMut() -> usize {
    // FNV-1a over the body, then xorshift.
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let mut state = body.iter().fold(0xcbf2_9ce4_8422_2325, fold) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 32) as usize + 1
    }
}
