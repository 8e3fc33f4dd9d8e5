//! Measurements as Markdown tables.

use crate::{
    interval::clopper_pearson,
    measure::{Seen, Served},
    sets::{Half, Pair},
};
use std::fmt::Write as _;

/// What each encoder serves of each set at its operating point, half by half.
pub fn operating_points(seen: &[&Seen<'_>]) -> String {
    let mut table = "| set | encoder | guards | threshold | half | right pairs served | near-misses served | precision, 95 % interval |\n\
                     | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for seen in seen {
        for guarded in [false, true] {
            let head =
                format!("| {} | {} | {} |", seen.set, seen.encoder, if guarded { "with" } else { "without" });
            let Some(threshold) = seen.operating_point(guarded) else {
                let _ = writeln!(table, "{head} none is safe | | | | |");
                continue;
            };
            for (name, half) in [
                ("development", Some(Half::Development)),
                ("held out", Some(Half::HeldOut)),
                ("**both**", None),
            ] {
                let served =
                    seen.served(threshold, guarded, |pair| half.is_none_or(|half| pair.half == half));
                let _ = writeln!(table, "{head} {} | {name} | {} |", hundredths(threshold), row(served));
            }
        }
    }
    table
}

/// What is served at thresholds that others recommend, with and without guards.
pub fn thresholds(seen: &[&Seen<'_>]) -> String {
    let mut table =
        "| set | encoder | threshold | right pairs / near-misses served without guards | with guards |\n\
                     | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for seen in seen {
        for threshold in [60, 70, 80, 90, 95] {
            let cell = |guarded| {
                let served = seen.served(threshold, guarded, |_| true);
                format!("{} / {}", percent(served.right_share()), percent(served.wrong_share()))
            };
            let _ = writeln!(
                table,
                "| {} | {} | {} | {} | {} |",
                seen.set,
                seen.encoder,
                hundredths(threshold),
                cell(false),
                cell(true),
            );
        }
    }
    table
}

/// What one encoder serves of each kind, language by language, at a threshold: without guards, then with them.
pub fn kinds(seen: &Seen<'_>, threshold: u8) -> String {
    let languages = distinct(seen, |pair| &pair.language);
    let kinds = distinct(seen, |pair| &pair.kind);
    let mut table = "| kind |".to_owned();
    languages.iter().for_each(|language| {
        let _ = write!(table, " {language} |");
    });
    table.push_str(" all |\n| --- |");
    table.push_str(&" --- |".repeat(languages.len() + 1));
    for kind in kinds {
        let _ = write!(table, "\n| {kind} |");
        let columns = languages.iter().map(Some).chain([None]);
        for language in columns {
            let of = |pair: &Pair| {
                pair.kind == *kind && language.is_none_or(|language| pair.language == **language)
            };
            let [without, with] = [false, true].map(|guarded| {
                let served = seen.served(threshold, guarded, of);
                served.right + served.wrong
            });
            let all = seen.pairs.iter().filter(|(pair, ..)| of(pair)).count();
            let _ = write!(table, " {without} → {with} of {all} |");
        }
    }
    table.push('\n');
    table
}

fn distinct<'a>(seen: &Seen<'a>, of: impl Fn(&'a Pair) -> &'a String) -> Vec<&'a String> {
    let mut values = Vec::new();
    for (pair, ..) in &seen.pairs {
        let value = of(pair);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

fn row(served: Served) -> String {
    let (low, high) = clopper_pearson(served.right, served.right + served.wrong);
    format!(
        "{} ({} of {}) | {} ({} of {}) | {} ({} to {})",
        percent(served.right_share()),
        served.right,
        served.rights,
        percent(served.wrong_share()),
        served.wrong,
        served.wrongs,
        percent(served.precision()),
        percent(low),
        percent(high),
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn hundredths(threshold: u8) -> String {
    format!("{:.2}", f64::from(threshold) / 100.0)
}
