//! What an account costs the request it is of: `cargo bench -p signalbox-spool`. The aim is less than 20 µs for opening
//! and closing one, with nobody reading (the bus is away) and with somebody reading.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the figures are the output; a failure ends the measurement"
)]

use signalbox_api::v1::{Attempt, Cost, Decision, TokenUsage, UsageAttempt, UsageEvent};
use signalbox_ports::{Outbox, UsageLog};
use signalbox_spool::{Options, Spool};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

const ACCOUNTS: usize = 50_000;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        Options { dir: dir.path().to_owned(), max_bytes: 4 << 30, segment_bytes: 32 << 20, readers: &[] };
    let spool = Arc::new(Spool::open(options).unwrap());
    report("nobody reads", &spool);
    let stop = Arc::new(AtomicBool::new(false));
    let reader = thread::spawn({
        let (spool, stop) = (spool.clone(), stop.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                let entries = spool.read(None, 500).unwrap();
                if let Some(newest) = entries.last() {
                    spool.confirm(newest.position).unwrap();
                }
            }
        }
    });
    report("somebody reads", &spool);
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
}

fn report(case: &str, spool: &Spool) {
    let (draft, event) = (event(false), event(true));
    let mut times: Vec<u128> = (0..ACCOUNTS)
        .map(|_| {
            let started = Instant::now();
            let account = spool.open(&draft).unwrap();
            spool.close(account, &event);
            started.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| times[(ACCOUNTS as f64 * share) as usize]);
    println!("{case}: p50 {p50} ns, p99 {p99} ns, p99.9 {p999} ns for an account opened and closed");
}

fn event(ended: bool) -> UsageEvent {
    let usage = Some(TokenUsage { input_tokens: 1200, output_tokens: 340, ..TokenUsage::default() });
    let cost =
        Some(Cost { nano_eur: 2_345_678, unknown: false, price_version: "0123456789abcdef".to_owned() });
    let attempt = Attempt {
        vendor: "openai".to_owned(),
        model: "gpt-6-luna".to_owned(),
        usage,
        cost: cost.clone(),
        ..Attempt::default()
    };
    UsageEvent {
        event_id: "0195e3a2-7d4c-7000-8000-0123456789ab".to_owned(),
        request_id: "0195e3a2-7d4c-7000-8000-0123456789ac".to_owned(),
        tenant_id: "acme".to_owned(),
        scene: "cms-editor".to_owned(),
        task_type: "headline".to_owned(),
        vendor: "openai".to_owned(),
        model: "gpt-6-luna".to_owned(),
        attempts: vec![UsageAttempt { attempt: Some(attempt), ..UsageAttempt::default() }],
        decision: ended.then(|| Decision { requested: "alias:smart".to_owned(), ..Decision::default() }),
        usage,
        cost,
        ..UsageEvent::default()
    }
}
