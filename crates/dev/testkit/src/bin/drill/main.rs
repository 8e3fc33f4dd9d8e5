//! `make drill`: the monthly drill against real processes.
//!
//! A router, two adapters and the simulated vendors run as processes of their own, under load. A vendor drawn by the
//! seed fails in three ways, one after the other, by drills of `AdminService`; the verdicts are printed.
//! Environment: `DRILL_SEED` (drawn), `DRILL_SECONDS` for each fault (15), `DRILL_RATE` in requests a second (40).
//!
//! With `DRILL_SERVER` the drill is held at the router there in place of one of its own, as its operator
//! (`SIGNALBOX_ADMIN_KEY`), and strikes the vendor that answers most.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program tells its user what it found"
)]

mod field;
mod load;
mod report;

use field::Field;
use load::Load;
use report::Row;
use signalbox_api::v1::{
    self, Drill, ListDrillsRequest, StartDrillRequest, Target, admin_service_client::AdminServiceClient,
    drill::State, fault::Fault, router_service_client::RouterServiceClient,
};
use signalbox_testkit::Keyed;
use std::{
    hash::{BuildHasher as _, RandomState},
    process::ExitCode,
    time::Duration,
};
use tokio::time::{Instant, sleep};
use tonic::Status;

/// Load before the first fault.
const WARM_UP: Duration = Duration::from_secs(3);
/// How long traffic may take to come back to a vendor that has recovered.
const PATIENCE: Duration = Duration::from_secs(180);

/// What is wished for on the command line's environment.
struct Wish {
    seed: u64,
    lasting: Duration,
    rate: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let prepared = async {
        let wish = wish()?;
        let field = field(&wish).await?;
        Ok::<_, String>((wish, field))
    };
    let (wish, field) = match prepared.await {
        Ok(prepared) => prepared,
        Err(problem) => return fail(&problem),
    };
    match drill(&wish, &field).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => fail("the drill has not passed"),
        Err(status) => fail(&format!("{}: {}", status.code(), status.message())),
    }
}

async fn field(wish: &Wish) -> Result<Field, String> {
    match std::env::var("DRILL_SERVER") {
        Ok(server) => Field::there(&server, &std::env::var("SIGNALBOX_ADMIN_KEY").unwrap_or_default()),
        Err(_) => Ok(Field::own(wish.seed).await),
    }
}

fn fail(problem: &str) -> ExitCode {
    eprintln!("drill: {problem}");
    ExitCode::FAILURE
}

fn wish() -> Result<Wish, String> {
    let number = |name: &str, usual: u64| match std::env::var(name) {
        Ok(text) => text.parse().map_err(|_| format!("{name}: `{text}` is not a whole number")),
        Err(_) => Ok(usual),
    };
    let rate = u32::try_from(number("DRILL_RATE", 40)?.clamp(1, 1000)).unwrap_or(40);
    let lasting = Duration::from_secs(number("DRILL_SECONDS", 15)?.clamp(1, 600));
    Ok(Wish { seed: number("DRILL_SEED", RandomState::new().hash_one(0) % 100_000)?, lasting, rate })
}

/// Whether all three faults, and the time between them, went unnoticed.
async fn drill(wish: &Wish, field: &Field) -> Result<bool, Status> {
    let seconds = wish.lasting.as_secs();
    println!(
        "{}, {} requests a second, half of them streams, {seconds} s for each fault\n",
        field.told, wish.rate
    );
    let load = Load::start(RouterServiceClient::new(field.way.clone()), field.model, wish.rate);
    sleep(WARM_UP).await;
    let vendor = field.vendor.map(str::to_owned).or_else(|| load.busiest());
    let vendor = vendor.ok_or_else(|| Status::unavailable("nobody has answered anything"))?;
    let back_from = load.share_of(&vendor, WARM_UP) * field.back_from;

    let mut admin = AdminServiceClient::new(field.way.clone());
    let mut rows = Vec::new();
    let ten_seconds = prost_types::Duration { seconds: 10, nanos: 0 };
    for fault in [Fault::Status(500), Fault::Status(429), Fault::Delay(ten_seconds)] {
        let ended = strike(&mut admin, &vendor, fault, wish.lasting).await?;
        let over_at = Instant::now();
        let recovered = recovered(&load, &vendor, back_from).await.then(|| over_at.elapsed());
        rows.push(Row { fault, verdict: ended.verdict.unwrap_or_default(), recovered });
    }
    let seen = load.stop().await;
    println!("{}\n", report::table(&rows));
    println!("{}", report::total(&seen));
    Ok(seen.failed.is_empty() && rows.iter().all(|row| row.verdict.passed && row.recovered.is_some()))
}

/// Runs one drill to its end and to the end of every request that it hit.
async fn strike(
    admin: &mut AdminServiceClient<Keyed>,
    vendor: &str,
    fault: Fault,
    lasting: Duration,
) -> Result<Drill, Status> {
    let wanted = Drill {
        target: Some(Target { vendor: vendor.to_owned(), model: String::new() }),
        fault: Some(v1::Fault { fault: Some(fault) }),
        share: 1.0,
        duration: Some(prost_types::Duration { seconds: lasting.as_secs().cast_signed(), nanos: 0 }),
        ..Default::default()
    };
    let started = admin.start_drill(StartDrillRequest { drill: Some(wanted) }).await?.into_inner();
    let name = started.drill.unwrap_or_default().name;
    loop {
        sleep(Duration::from_millis(250)).await;
        let listed = admin.list_drills(ListDrillsRequest::default()).await?.into_inner();
        let found = listed.drills.into_iter().find(|drill| drill.name == name);
        let drill = found.ok_or_else(|| Status::not_found(format!("{name} is gone")))?;
        let open = drill.verdict.as_ref().map_or(0, |verdict| verdict.requests_open);
        if drill.state() == State::Ended && open == 0 {
            return Ok(drill);
        }
    }
}

/// Waits until the vendor serves again as it did before.
async fn recovered(load: &Load, vendor: &str, back_from: f64) -> bool {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        sleep(Duration::from_millis(250)).await;
        if load.share_of(vendor, Duration::from_secs(2)) >= back_from {
            return true;
        }
    }
    false
}
