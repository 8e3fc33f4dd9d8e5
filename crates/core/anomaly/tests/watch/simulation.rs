//! Two weeks of made-up traffic: 40 to 400 calls a minute by hour of day, 1.5 % of them failing, by hour of day too and
//! with log-normal noise from minute to minute. `docs/alerts.md` has the figures; this prints them.

use crate::traffic::{Dice, MINUTES_OF_DAY, START, calls, opened, volume, watch, wave};
use signalbox_anomaly::{Alert, Minute, Tally, Watch, shipped};

const DAYS: u64 = 14;
const NOISE: f64 = 0.15;
/// Days of history with which detection is measured.
const LEARNT: u64 = 7;
/// And the hours at which things get worse: at night, at noon and between.
const ONSETS: [u64; 4] = [18, 0, 6, 12];

/// Longest wait for a rule.
const PATIENCE: u64 = 120;

/// How many runs; more of them for the figures of the page.
fn seeds() -> u64 {
    std::env::var("ANOMALY_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(8)
}

/// A minute in which everything is as usual, times `worse`.
fn minute(dice: &mut Dice, minute: Minute, worse: f64) -> Tally {
    let n = volume(minute);
    let rate = |dice: &mut Dice| 0.015 * (1.0 + 0.3 * wave(minute)) * (NOISE * dice.normal()).exp() * worse;
    let rates = [rate(dice), rate(dice), rate(dice)];
    let [failed, fell_back, invalid] = rates.map(|rate| dice.of(n, rate.min(1.0)));
    // Lengths of answers vary by a factor of two from call to call, and so does what they cost.
    let mix = (NOISE * dice.normal()).exp();
    let tokens = (0..n).map(|_| 400.0 * mix * worse * (0.7 * dice.normal()).exp()).sum::<f64>() as u64;
    Tally {
        calls: n,
        failed,
        first_choices: n,
        fell_back,
        structured: n,
        invalid,
        cost_nano_eur: tokens as i64 * 600,
        priced: n,
        output_tokens: tokens,
        answered: n,
    }
}

fn weeks(dice: &mut Dice, days: u64) -> (Watch, Vec<Alert>) {
    let (mut watch, mut changes) = (watch(), Vec::new());
    for at in START.0..START.0 + days * MINUTES_OF_DAY {
        let tally = minute(dice, Minute(at), 1.0);
        changes.extend(watch.minute(Minute(at), &calls(tally)));
    }
    (watch, changes)
}

#[test]
fn no_rule_cries_wolf_more_than_once_in_twenty_days() {
    let seeds = seeds();
    let changes: Vec<Alert> = (0..seeds).flat_map(|seed| weeks(&mut Dice(seed), DAYS).1).collect();
    for rule in shipped() {
        let a_day = opened(&changes, rule.name).len() as f64 / (DAYS * seeds) as f64;
        println!("{:30} {a_day:.3} false alarms a day", rule.name);
        assert!(a_day <= 0.05, "{}: {a_day}", rule.name);
    }
}

/// Minutes until a rule tells of traffic that is so many times the usual, the median over seeds and hours of the day.
fn delay(learnt: &[Watch], rule: &str, times: f64) -> u64 {
    let mut delays = Vec::new();
    for (seed, watch) in learnt.iter().enumerate() {
        let delay = |hour| delay_after(watch.clone(), seed as u64, hour, rule, times);
        delays.extend(ONSETS.map(delay));
    }
    delays.sort_unstable();
    delays[delays.len() / 2]
}

fn delay_after(mut watch: Watch, seed: u64, hour: u64, rule: &str, times: f64) -> u64 {
    let mut dice = Dice(1000 * seed + hour);
    let onset = START.0 + LEARNT * MINUTES_OF_DAY + hour * 60;
    for at in onset - hour * 60..onset {
        let tally = minute(&mut dice, Minute(at), 1.0);
        watch.minute(Minute(at), &calls(tally));
    }
    let told = (onset..onset + PATIENCE).find(|at| {
        let tally = minute(&mut dice, Minute(*at), times);
        let changes = watch.minute(Minute(*at), &calls(tally));
        !opened(&changes, rule).is_empty()
    });
    told.map_or(PATIENCE, |at| at + 1 - onset)
}

#[test]
fn what_gets_worse_is_told_within_minutes() {
    let learnt: Vec<Watch> = (0..seeds()).map(|seed| weeks(&mut Dice(seed), LEARNT).0).collect();
    for (rule, times, most) in [
        ("failures-above-baseline", 2.0, 15),
        ("failures-above-baseline", 4.0, 3),
        ("failures-above-baseline", 13.0, 1),
        ("fallbacks-above-baseline", 4.0, 3),
        ("json-failures-above-baseline", 4.0, 3),
        ("failure-rate-up", 4.0, 8),
        ("cost-per-call-above-baseline", 2.0, 4),
        ("output-length-above-baseline", 2.0, 4),
        ("output-length-below-baseline", 0.5, 4),
    ] {
        let minutes = delay(&learnt, rule, times);
        println!("{rule:30} at {times} times the usual after {minutes} min");
        assert!(minutes <= most, "{rule} at {times}: {minutes} min");
    }
}
