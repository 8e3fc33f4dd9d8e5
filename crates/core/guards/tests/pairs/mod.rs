//! Tables of pairs of texts, and what the guards say of them either way round.

use signalbox_guards::Guards;

/// Language, and two texts.
pub(crate) type Pair = (&'static str, &'static str, &'static str);

/// Every pair must be told apart.
pub(crate) fn assert_differ(pairs: &[Pair]) {
    let guards = Guards::builtin();
    let passed: Vec<String> = both_ways(pairs)
        .filter(|(language, a, b)| guards.compare(a, b, language).is_ok())
        .map(|(language, a, b)| format!("{language}: {a} | {b}"))
        .collect();
    assert!(passed.is_empty(), "{} passed:\n{}", passed.len(), passed.join("\n"));
}

/// Every pair must pass for the same.
pub(crate) fn assert_same(pairs: &[Pair]) {
    let guards = Guards::builtin();
    let refused: Vec<String> = both_ways(pairs)
        .filter_map(|(language, a, b)| {
            let refusal = guards.compare(a, b, language).err()?;
            Some(format!("{language}: {a} | {b}: {refusal}"))
        })
        .collect();
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

fn both_ways(pairs: &[Pair]) -> impl Iterator<Item = Pair> {
    pairs.iter().flat_map(|(language, a, b)| [(*language, *a, *b), (*language, *b, *a)])
}
