//! A list of words as one pattern.

/// Most bytes of a word or phrase.
const LONGEST: usize = 200;

/// Matches any of the words, whatever their case, between word boundaries. Where several begin at one place the longest
/// counts; space within a phrase stands for any space.
pub(super) fn pattern(words: &[String]) -> Result<String, String> {
    let mut words = words.iter().map(|word| word.trim()).collect::<Vec<_>>();
    if let Some(word) = words.iter().find(|word| word.is_empty() || word.len() > LONGEST) {
        return Err(match word.len() {
            0 => "has an empty word".to_owned(),
            length => format!("has a word of {length} bytes; a word has at most {LONGEST}"),
        });
    }
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let phrase =
        |word: &&str| word.split_whitespace().map(regex_syntax::escape).collect::<Vec<_>>().join(r"\s{1,8}");
    let alternatives = words.iter().map(phrase).collect::<Vec<_>>().join("|");
    Ok(format!(r"(?i:\b{{start-half}}(?:{alternatives})\b{{end-half}})"))
}
