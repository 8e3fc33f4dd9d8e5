//! The simulator's tokeniser: a token is the longest run of at most four bytes that ends between two characters.
//!
//! So ASCII text of `n` bytes has `n / 4` tokens, rounded up. A stream carries one token per piece, a cap of `n`
//! tokens keeps exactly `n`, and a fault "after `k` tokens" strikes after exactly `k` pieces: one notion for all.

const WIDTH: usize = 4;

/// How many tokens `text` has.
pub(crate) fn count(text: &str) -> u64 {
    if text.is_ascii() { text.len().div_ceil(WIDTH) as u64 } else { pieces(text).count() as u64 }
}

/// The tokens of `text`, in order.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(first_token(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The first `tokens` tokens of `text`.
pub(crate) fn prefix(text: &str, tokens: u64) -> &str {
    let length = pieces(text).take(usize::try_from(tokens).unwrap_or(usize::MAX)).map(str::len).sum();
    &text[..length]
}

fn first_token(text: &str) -> usize {
    text.floor_char_boundary(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_text_has_a_token_per_four_bytes_rounded_up() {
        assert_eq!([count(""), count("abc"), count("abcd"), count("abcde")], [0, 1, 1, 2]);
    }

    #[test]
    fn pieces_never_split_a_character_and_join_to_the_text() {
        let text = "Grüße aus 東京 🏯👩‍👩‍👧";
        assert_eq!(pieces(text).collect::<String>(), text);
        assert_eq!(pieces(text).count() as u64, count(text));
        assert!(pieces(text).all(|piece| piece.len() <= WIDTH));
    }

    #[test]
    fn a_prefix_has_as_many_tokens_as_asked_for() {
        assert_eq!(prefix("abcdefghij", 2), "abcdefgh");
        assert_eq!(prefix("ab", 7), "ab");
    }
}
