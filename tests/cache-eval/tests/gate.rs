//! What must hold on every machine, without anything installed: the guards alone decide here.

use signalbox_cache_eval::{
    encoders, generated,
    measure::{Seen, THRESHOLDS},
    sets,
};
use signalbox_guards::Guards;
use std::path::Path;

#[test]
fn no_near_miss_is_served_at_any_threshold() -> Result<(), Box<dyn std::error::Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/semcache/pairs.jsonl");
    let pairs = sets::read(&file, 2)?;
    let seen = Seen::new("pairs", "hashed-ngrams-512", 0.01, &pairs, &encoders::builtin(&pairs));
    for threshold in THRESHOLDS.chain([0]) {
        let served = seen.served(threshold, true, |_| true);
        assert_eq!(served.wrong, 0, "at {threshold}: {served:?}");
    }
    // Where the guards passed nothing, the above would hold too.
    let served = seen.served(0, true, |_| true);
    assert!(served.right_share() > 0.5, "{served:?}");
    Ok(())
}

#[test]
fn whoever_changes_a_slot_or_swaps_two_is_refused() {
    let guards = Guards::builtin();
    let passed: Vec<_> = generated::pairs()
        .into_iter()
        .filter(|pair| !pair.same && guards.compare(&pair.stored, &pair.asked, &pair.language).is_ok())
        .map(|pair| format!("{} {}: {} | {}", pair.language, pair.kind, pair.stored, pair.asked))
        .collect();
    assert!(passed.is_empty(), "{} passed:\n{}", passed.len(), passed.join("\n"));
}

#[test]
fn politeness_spaces_and_number_words_are_the_same_by_meaning() {
    let guards = Guards::builtin();
    let differ: Vec<_> = generated::pairs()
        .into_iter()
        .filter(|pair| pair.same)
        .filter(|pair| {
            let signature = |text: &str| guards.signature(text, &pair.language);
            signature(&pair.stored) != signature(&pair.asked)
                || guards.compare(&pair.stored, &pair.asked, &pair.language).is_err()
        })
        .map(|pair| {
            let refusal = guards.compare(&pair.stored, &pair.asked, &pair.language).err();
            format!("{} | {} | {refusal:?}", pair.stored, pair.asked)
        })
        .collect();
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn what_differs_in_a_slot_is_not_the_same_normalised() {
    let same: Vec<_> = generated::pairs()
        .into_iter()
        .filter(|pair| !pair.same)
        .filter(|pair| signalbox_guards::normalise(&pair.stored) == signalbox_guards::normalise(&pair.asked))
        .map(|pair| format!("{} | {}", pair.stored, pair.asked))
        .collect();
    assert!(same.is_empty(), "{}", same.join("\n"));
}

#[test]
fn the_generator_speaks_five_languages_and_always_says_the_same() {
    let pairs = generated::pairs();
    for language in ["en", "it", "pl", "uk", "zh"] {
        assert!(pairs.iter().filter(|pair| pair.language == language).count() > 300, "{language}");
    }
    let texts =
        |pairs: Vec<sets::Pair>| pairs.into_iter().map(|pair| (pair.stored, pair.asked)).collect::<Vec<_>>();
    assert_eq!(texts(pairs), texts(generated::pairs()));
}
