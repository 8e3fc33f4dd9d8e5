//! What the guards cost a lookup: `cargo bench -p signalbox-guards`.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use signalbox_guards::Guards;
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// A pair that every guard is asked about, in each language.
const PAIRS: [(&str, &str, &str); 5] = [
    (
        "en",
        "Summarise the press briefing of 5 March 2024 by Laura Bianchi in at most 100 words, in a formal style",
        "Please give me a summary of the press briefing of March 5, 2024 by Laura Bianchi in no more than one hundred words, formal style",
    ),
    (
        "it",
        "Riassumi la conferenza stampa di Laura Bianchi del 5 marzo 2024 in non più di 100 parole",
        "Per favore riassumi la conferenza stampa di Laura Bianchi del 5 marzo 2024 in al massimo cento parole",
    ),
    (
        "pl",
        "Streść konferencję prasową Anny Zielińskiej z 5 marca 2024 w najwyżej 100 słowach",
        "Proszę, streść konferencję prasową Anny Zielińskiej z 5 marca 2024 w nie więcej niż stu słowach",
    ),
    (
        "uk",
        "Підсумуй брифінг Оксани Левчук 5 березня 2024 року, щонайбільше 100 слів",
        "Будь ласка, підсумуй брифінг Оксани Левчук 5 березня 2024 року, не більше ста слів",
    ),
    (
        "zh",
        "用最多100字总结王丽娜2024年3月5日的新闻发布会",
        "请用不超过一百字概括王丽娜2024年3月5日的新闻发布会",
    ),
];

fn main() {
    let guards = Guards::builtin();
    for (language, stored, asked) in PAIRS {
        let passed = || guards.compare(stored, asked, language).is_ok();
        println!(
            "{language}: {} and {} bytes, {}",
            stored.len(),
            asked.len(),
            if passed() { "same" } else { "not the same" }
        );
        measure("compare", passed);
        measure("signature", || guards.signature(asked, language).is_some());
        measure("normalise", || signalbox_guards::normalise(asked).is_empty());
    }
}

/// Best of several rounds: what else the machine does only ever adds.
fn measure(name: &str, work: impl Fn() -> bool) {
    const ROUNDS: u32 = 20;
    let calls = calls_in(Duration::from_millis(20), &work);
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(work());
        }
        start.elapsed() / calls
    });
    println!("  {name:10} {:>8.1?}", best.min().unwrap_or_default());
}

fn calls_in(time: Duration, work: &impl Fn() -> bool) -> u32 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < time {
        black_box(work());
        calls += 1;
    }
    calls
}
