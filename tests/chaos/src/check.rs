//! What is stored, against what was published: through the store as everybody asks it, and past it by SQL.

use crate::{
    field::Field,
    ledger::{Account, Sums},
    parts, tables,
};
use signalbox_api::v1::{UsageDimension, UsageFilter, UsageRow, query_usage_request::Interval};
use signalbox_kit::{Clock as _, SystemClock};
use signalbox_nats::{NatsDeadLetters, StreamOptions};
use signalbox_ports::{
    DeadLetters,
    usage_store::{Query, UsageStore, Window},
};
use signalbox_spool::{Options, Spool, SpoolDeadLetters};
use std::{path::Path, sync::Arc, time::Duration};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is stored, in words, and all that is wrong with it.
pub(crate) async fn check(field: &Field, dir: &Path) -> Result<(String, Vec<String>), String> {
    let expected = field.account();
    let mut problems = Vec::new();
    let spools: Vec<_> =
        (0..field.publishers()).map(|number| dir.join(format!("publisher-{number}"))).collect();
    let own = spools.iter().map(|dir| spool(&dir.join("spool"))).collect::<Result<Vec<_>, _>>()?;
    for (number, spool) in own.iter().enumerate() {
        same(
            &mut problems,
            &format!("entries left in spool {number}"),
            &0,
            &(spool.last().0 - spool.confirmed().0),
        );
    }
    let (store, tables, letters): (Arc<dyn UsageStore>, _, Arc<dyn DeadLetters>) =
        match (&field.engine, &field.bus) {
            (Some(engine), Some(bus)) => {
                let nats = parts::connect(&bus.urls()).await?;
                let letters = NatsDeadLetters::new(&nats, StreamOptions::default());
                let tables = tables::clickhouse(&engine.url()).await?;
                (Arc::new(parts::clickhouse(&engine.url())?), tables, Arc::new(letters))
            }
            _ => {
                let file = dir.join("publisher-0/usage.db");
                let letters = own.first().cloned().map(SpoolDeadLetters::open);
                let letters = letters.ok_or("no spool")?.map_err(|error| error.to_string())?;
                let tables = tables::sqlite(&file).await?;
                (parts::sqlite(&file).await?, tables, Arc::new(letters))
            }
        };
    tables.judge(&expected, &mut problems);
    same_accounts(&mut problems, "the store's answer", &expected, &sums(&*store).await?);
    let letters = retried(|| letters.list(None, 0, 10)).await?;
    same(&mut problems, "dead letters", &0, &letters.len());
    Ok((tables.to_string(), problems))
}

fn spool(dir: &Path) -> Result<Arc<Spool>, String> {
    let options = Options { dir: dir.to_owned(), max_bytes: 4 << 30, segment_bytes: 4 << 20 };
    Spool::open(options).map(Arc::new).map_err(|error| error.to_string())
}

/// NATS may take a moment to be connected.
async fn retried<T, E: ToString, F: Future<Output = Result<T, E>>>(ask: impl Fn() -> F) -> Result<T, String> {
    let mut last = String::new();
    for _ in 0..100 {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => last = error.to_string(),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(last)
}

/// By tenant and model, as `QueryUsage` would answer: from the coarsest sums.
async fn sums(store: &dyn UsageStore) -> Result<Account, String> {
    let now = SystemClock.now();
    let query = Query {
        window: Window { start: now - 7 * DAY, end: now + DAY },
        filter: UsageFilter::default(),
        group_by: vec![UsageDimension::Tenant, UsageDimension::Model],
        interval: Interval::Unspecified,
        limit: 1000,
        offset: 0,
    };
    let page = store.query(&query).await.map_err(|error| error.to_string())?;
    Ok(page.rows.into_iter().filter_map(row).collect())
}

fn row(row: UsageRow) -> Option<((String, String), Sums)> {
    let usage = row.usage.unwrap_or_default();
    let sums = Sums {
        requests: row.requests,
        attempts: row.attempts,
        tokens: usage.input_tokens + usage.output_tokens,
        nano_eur: row.cost?.nano_eur,
    };
    let [tenant, model]: [String; 2] = row.group.try_into().ok()?;
    Some(((tenant, model), sums))
}

pub(crate) fn same<T: PartialEq + std::fmt::Display>(
    problems: &mut Vec<String>,
    what: &str,
    expected: &T,
    found: &T,
) {
    if expected != found {
        problems.push(format!("{what}: {found} in place of {expected}"));
    }
}

pub(crate) fn same_accounts(problems: &mut Vec<String>, what: &str, expected: &Account, found: &Account) {
    let groups = expected.iter().map(|(key, sums)| (key, *sums, found.get(key).copied().unwrap_or_default()));
    for ((tenant, model), expected, found) in groups.filter(|(_, expected, found)| expected != found).take(5)
    {
        problems.push(format!("{what}, {tenant} {model}: {found:?} in place of {expected:?}"));
    }
    if found.len() > expected.len() {
        problems.push(format!("{what}: {} groups in place of {}", found.len(), expected.len()));
    }
}
