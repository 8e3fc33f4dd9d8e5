//! Runs the simulation at full size, and writes its tables and pictures.
//!
//! `simulate [FOLDER]` writes into `docs/` where FOLDER is given as the repository's root; without one it prints.

use signalbox_simulation::{Policy, Record, Scenario, picture, report, run, scenarios};
use std::{
    env,
    error::Error,
    fs,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    thread,
};

/// Requests a second, unless `SIMULATION_RATE` says otherwise.
const RATE: f64 = 2_000.0;
const BEGIN: &str = "<!-- simulation:begin -->\n";
const END: &str = "<!-- simulation:end -->";

fn main() -> Result<(), Box<dyn Error>> {
    let rate = env::var("SIMULATION_RATE").ok().map(|rate| rate.parse()).transpose()?.unwrap_or(RATE);
    let scenario = Arc::new(scenarios::troubled(rate));
    let records = all(&scenario)?;
    let tables = tables(&scenario, &records);
    let Some(root) = env::args_os().nth(1) else { return Ok(io::stdout().write_all(tables.as_bytes())?) };
    let docs = Path::new(&root).join("docs");
    let page = docs.join("routing.md");
    let text = fs::read_to_string(&page)?;
    let (head, rest) = text.split_once(BEGIN).ok_or("docs/routing.md has no place for the tables")?;
    let (_, tail) = rest.split_once(END).ok_or("docs/routing.md has no end of the tables")?;
    fs::write(&page, format!("{head}{BEGIN}{tables}{END}{tail}"))?;
    Ok(pictures(&scenario, &records, &docs.join("pictures"))?)
}

/// Every policy's record, as many at a time as there are cores.
fn all(scenario: &Arc<Scenario>) -> io::Result<Vec<Record>> {
    let half = Policy::ALL.len().div_ceil(2);
    let mut records = Vec::new();
    // The router is most of the work, and the first two policies are its.
    let turns = [Policy::ALL.iter().step_by(2), Policy::ALL[1..].iter().step_by(2)];
    let done = thread::scope(|scope| {
        let work = turns.map(|turn| scope.spawn(|| turn.map(|policy| run(scenario, *policy)).collect::<Vec<_>>()));
        work.map(|thread| thread.join().unwrap_or_default())
    });
    for record in done.into_iter().flatten() {
        records.push(record?);
    }
    debug_assert!(records.len() <= 2 * half);
    let place = |record: &Record| Policy::ALL.iter().position(|policy| *policy == record.policy);
    records.sort_by_key(place);
    Ok(records)
}

fn tables(scenario: &Arc<Scenario>, records: &[Record]) -> String {
    let mut text = format!(
        "{} requests in {} s of virtual time, seed {}.\n\n",
        records.first().map_or(0, |record| record.outcomes.len()),
        scenario.length.as_secs(),
        scenario.seed,
    );
    text.push_str(&report::policies(scenario, records));
    text.push_str("\nWhile each incident lasted, and in the half minute after:\n\n");
    text.push_str(&report::incidents(scenario, records));
    if let Some(signalbox) = records.first() {
        text.push_str("\nHow Signalbox's traffic left each vendor and came back:\n\n");
        text.push_str(&report::recoveries(scenario, signalbox));
    }
    text.push_str("\nShare of calls per vendor:\n\n");
    text.push_str(&report::shares(scenario, records));
    text
}

fn pictures(scenario: &Arc<Scenario>, records: &[Record], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let write = |name: &str, chart: picture::Chart| {
        fs::write(folder.join(format!("routing-{name}.svg")), chart.svg())
    };
    if let Some(signalbox) = records.first() {
        write("shares", picture::shares(scenario, signalbox))?;
    }
    write("p99", picture::tail(scenario, records))?;
    if let Some(outage) = scenario.incidents.first() {
        let seconds = outage.from.as_secs() - 30..outage.until.as_secs() + 60;
        write("recovery", picture::calls(scenario, records, outage.vendor, seconds))?;
    }
    Ok(())
}
