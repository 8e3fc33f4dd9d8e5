//! Texts of others, cut to what fits into a message.

use std::borrow::Cow;

/// Most bytes of a caller's value that an error quotes.
const LONGEST_SHOWN: usize = 60;

/// A caller's value as an error quotes it: short, and without control characters.
pub fn shown(text: &str) -> Cow<'_, str> {
    let cut = cut(text, LONGEST_SHOWN);
    if !cut.chars().any(char::is_control) {
        return cut;
    }
    Cow::Owned(cut.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect())
}

/// At most so many bytes of a text, with `…` where something is left out.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let kept = text.floor_char_boundary(most.saturating_sub('…'.len_utf8()));
    Cow::Owned(format!("{}…", &text[..kept]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_shown_as_it_is() {
        assert_eq!(shown("openai/gpt-6-luna"), "openai/gpt-6-luna");
        assert_eq!(cut("abc", 3), "abc");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let shown = shown("дддддддддддддддддддддддддддддддддддддддддд");
        assert!(shown.len() <= LONGEST_SHOWN && shown.ends_with("д…"), "{shown}");
        assert_eq!(cut("abcdef", 5), "ab…");
    }

    #[test]
    fn control_characters_are_not_shown() {
        assert_eq!(shown("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}
