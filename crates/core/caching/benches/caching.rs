//! What the cache's own arithmetic costs: `cargo bench -p signalbox-caching`. The aims: keys of a short request in less than
//! 10 µs, a vector in less than 20 µs, the five nearest of 1,000 vectors in less than 100 µs, a decision in less than 5 µs.
#![expect(clippy::print_stdout, reason = "the figures are the output")]

use signalbox_caching::{
    Candidate, Canonical, Context, Digest, Facts, Pool, Record, Secret, Semantic, TaskPolicy, decide,
    may_look_up,
    ngrams::{DIMENSIONS, embed},
    vectors::nearest,
};
use signalbox_types::{GenerateRequest, Message, Part, Role};
use std::{
    hint::black_box,
    time::{Duration, Instant, UNIX_EPOCH},
};

const BATCHES: usize = 15;
const INSTRUCTION: &str = "Write a headline of at most eight words for the article, in a calm tone.";

fn main() {
    let article = INSTRUCTION.repeat(140);
    for (name, text) in [("short", INSTRUCTION), ("10 kB", article.as_str())] {
        keys(name, text);
    }
    for text in [
        INSTRUCTION,
        "Напишіть спокійний заголовок до статті, не довший за вісім слів.",
        "为这篇文章写一个标题",
    ] {
        show(&format!("vector of {} characters", text.chars().count()), 2_000, || embed(black_box(text)));
    }
    for rows in [100, 1_000, 20_000] {
        scan(rows);
    }
    decision();
}

fn keys(name: &str, text: &str) {
    let mut request = GenerateRequest { tenant_id: "acme".to_owned(), ..GenerateRequest::default() };
    request.prompt.messages = vec![Message { role: Role::User, parts: vec![Part::text(text)] }];
    let tenant = Secret::new(b"secret").tenant("acme");
    let policy = TaskPolicy::default();
    show(&format!("canonical form and keys, {name}"), 2_000, || {
        let request = black_box(&request);
        tenant.keys(request, &Canonical::of(request, &Context::default()))
    });
    let canonical = Canonical::of(&request, &Context::default());
    show(&format!("eligibility, {name}"), 2_000, || {
        may_look_up(black_box(&request), &canonical, &policy, Facts::default())
    });
    show("keys of a tenant", 2_000, || Secret::tenant(&Secret::new(b"secret"), black_box("acme")));
}

fn scan(rows: usize) {
    let matrix: Vec<f32> = (0..rows).flat_map(|row| embed(&format!("{INSTRUCTION} {row}"))).collect();
    let vector = embed(INSTRUCTION);
    let rounds = (2_000_000 / (rows * DIMENSIONS)).max(1) as u32;
    show(&format!("the five nearest of {rows}"), rounds, || nearest(black_box(&matrix), &vector, 5));
}

fn decision() {
    let now = UNIX_EPOCH + Duration::from_hours(24);
    let mut pool = Pool::new(Digest::default(), UNIX_EPOCH);
    (0..1_000_u16).for_each(|n| pool.observe(0.9 + f32::from(n) / 11_000.0, true, UNIX_EPOCH));
    let near =
        Candidate { similarity: 0.97, floor: 0.92, mode: Semantic::On, precision_target: 0.99, chance: 0.5 };
    show("decision", 10_000, || decide(black_box(&near), &pool, &Record::default(), now));
}

/// The median of several batches, so that a busy machine does not decide.
fn show<T>(name: &str, rounds: u32, mut work: impl FnMut() -> T) {
    let mut batch = || {
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(work());
        }
        start.elapsed().as_nanos() / u128::from(rounds)
    };
    let mut batches: Vec<u128> = (0..BATCHES).map(|_| batch()).collect();
    batches.sort_unstable();
    println!("{name:<40} {:>9} ns", batches[BATCHES / 2]);
}
