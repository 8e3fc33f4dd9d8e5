//! Identical requests at once, over several routers.

use crate::{
    ask::{Asked, ask, exact},
    field::Hall,
    spread::{Spread, ms},
};
use futures_util::future::join_all;
use signalbox_api::v1::cache_effect::Outcome;
use std::{error::Error, fmt::Write as _, time::Duration};

const ROUTERS: usize = 3;
/// How long the vendor takes.
const TAKES: Duration = Duration::from_millis(1_500);

/// With Redis and without.
pub(crate) async fn table(crowd: usize) -> Result<String, Box<dyn Error>> {
    let mut hall = Hall::open(ROUTERS, TAKES).await?;
    let mut table = format!(
        "| {crowd} identical requests at once, {ROUTERS} routers | vendor calls | most of one router | failed | coalesced | hits | p50 ms | longest ms |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    // All have met Redis, and each its vendor, before.
    for router in 0..ROUTERS {
        answers(&hall, 1, router, &format!("Are you there, router {router}?")).await;
    }
    for round in 1..=3 {
        let seen = answers(&hall, crowd, 0, &format!("What does everybody want to know, {round}?")).await;
        row(&mut table, &format!("Redis is up, {round}"), &seen);
    }
    hall.redis.kill().await;
    for round in 1..=3 {
        let seen =
            answers(&hall, crowd, 0, &format!("What does everybody want to know without it, {round}?")).await;
        row(&mut table, &format!("Redis is gone, {round}"), &seen);
    }
    Ok(table)
}

async fn answers(hall: &Hall, crowd: usize, from: usize, text: &str) -> Vec<Asked> {
    let many = (from..from + crowd).map(|at| ask(hall.routers[at % ROUTERS].client(), exact(text)));
    join_all(many).await
}

fn row(table: &mut String, what: &str, seen: &[Asked]) {
    let calls: usize = seen.iter().map(Asked::calls).sum();
    let of = |router| seen.iter().skip(router).step_by(ROUTERS).map(Asked::calls).sum::<usize>();
    let most = (0..ROUTERS).map(of).max().unwrap_or_default();
    let failed = seen.iter().filter(|asked| asked.answer.is_err()).count();
    let met = |outcome| seen.iter().filter(|asked| asked.met().0 == outcome).count();
    let times = Spread::of(seen.iter().map(|asked| asked.took).collect());
    let _ = writeln!(
        table,
        "| {what} | {calls} | {most} | {failed} | {} | {} | {} | {} |",
        met(Outcome::Coalesced),
        met(Outcome::ExactHit),
        ms(times.median()),
        ms(times.longest()),
    );
}
