//! The name that was probably meant.

/// The candidate nearest to `name` by edits, where one is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = name.chars().count().div_ceil(3).clamp(1, 6);
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean `x`?)`, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

/// Insertions, deletions and replacements that make one text the other (Levenshtein).
pub(super) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(200).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().take(200).enumerate() {
        let mut diagonal = line;
        let mut left_of = line + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&right) {
            let replaced = diagonal + usize::from(!from.eq_ignore_ascii_case(to));
            diagonal = *cell;
            left_of = replaced.min(left_of + 1).min(*cell + 1);
            *cell = left_of;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant_and_nothing_far_off() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("alises", ["aliases", "models"]), Some("aliases"));
        assert_eq!(
            nearest("openai/gpt-6-lune", ["openai/gpt-6-luna", "openai/gpt-6-sol"]),
            Some("openai/gpt-6-luna")
        );
        assert_eq!(nearest("zzz", ["aliases", "models"]), None);
        assert_eq!(did_you_mean("x", []), "");
    }
}
