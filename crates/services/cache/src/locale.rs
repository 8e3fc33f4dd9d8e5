//! One way of writing a locale, so that `it_it` and `it-IT` share answers and are invalidated together.

/// As BCP 47 recommends: `zh-Hans-CN`. What is none is in lower case.
pub(crate) fn canonical(locale: &str) -> String {
    let subtags = locale.split(['-', '_']).enumerate().map(|(at, subtag)| match (at, subtag.len()) {
        (1.., 2) => subtag.to_ascii_uppercase(),
        (1.., 4) if subtag.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            let (first, rest) = subtag.split_at(1);
            format!("{}{}", first.to_ascii_uppercase(), rest.to_ascii_lowercase())
        }
        _ => subtag.to_ascii_lowercase(),
    });
    subtags.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn a_locale_is_written_in_one_way() {
        for (written, expected) in [
            ("it-it", "it-IT"),
            ("IT_it", "it-IT"),
            ("ZH-hANS-cn", "zh-Hans-CN"),
            ("es-419", "es-419"),
            ("sl-1994", "sl-1994"),
            ("", ""),
        ] {
            assert_eq!(canonical(written), expected);
        }
    }
}
