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

/// Every policy's record. Two at a time, by turns, since the router's come first and are most of the work.
fn all(scenario: &Arc<Scenario>) -> io::Result<Vec<Record>> {
    let serve = |first: usize| {
        let turn = Policy::ALL.iter().skip(first).step_by(2);
        turn.map(|policy| run(scenario, *policy)).collect::<io::Result<Vec<_>>>()
    };
    let (even, odd) = thread::scope(|scope| {
        let odd = scope.spawn(|| serve(1));
        (serve(0), odd.join().unwrap_or_else(|_| Err(io::Error::other("a run has panicked"))))
    });
    let mut records = even?;
    records.extend(odd?);
    records.sort_by_key(|record| Policy::ALL.iter().position(|policy| *policy == record.policy));
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
    text.push_str("\nShare of calls per vendor, and in brackets the mean probability of being drawn:\n\n");
    text.push_str(&report::shares(scenario, records));
    text
}

fn pictures(scenario: &Arc<Scenario>, records: &[Record], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let write = |name: &str, chart: picture::Chart| {
        fs::write(folder.join(format!("routing-{name}.svg")), chart.svg())
    };
    // As many as there are colours.
    let shown: Vec<_> = records.iter().filter(|record| record.policy != Policy::Cheap).collect();
    if let Some(signalbox) = records.first() {
        write("shares", picture::shares(scenario, signalbox))?;
    }
    write("p99", picture::tail(scenario, &shown))?;
    if let Some(outage) = scenario.incidents.first() {
        let seconds = outage.from.as_secs() - 30..outage.until.as_secs() + 60;
        write("recovery", picture::calls(scenario, &shown, outage.vendor, seconds))?;
    }
    Ok(())
}
