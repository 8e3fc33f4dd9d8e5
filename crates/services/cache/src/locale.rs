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

/// Whether it could be a language tag: a language of letters, then subtags of up to eight letters and digits. The empty
/// one is that of requests without a locale.
pub(crate) fn is_well_formed(locale: &str) -> bool {
    let is_subtag = |subtag: &str| {
        (1..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let language = locale.split(['-', '_']).next().unwrap_or_default();
    let has_language =
        language == "x" || language.len() >= 2 && language.bytes().all(|byte| byte.is_ascii_alphabetic());
    locale.is_empty() || (has_language && locale.split(['-', '_']).all(is_subtag))
}

#[cfg(test)]
mod tests {
    use super::{canonical, is_well_formed};

    #[test]
    fn what_cannot_be_a_language_tag_is_known() {
        for good in ["", "it", "it_IT", "zh-Hans-CN", "es-419", "x-house", "sl-rozaj-biske"] {
            assert!(is_well_formed(good), "{good}");
        }
        for bad in ["it IT", "i", "12", "it-", "-it", "it--IT", "italianissimo", "it.UTF-8", "öst"] {
            assert!(!is_well_formed(bad), "{bad}");
        }
    }

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
