//! What is stored, against what was published: as those who ask are told it, and past that by SQL.

use crate::{answers, field::Field, ledger::Account, tables};
use signalbox_spool::{Options, Spool};
use std::{path::Path, sync::Arc};

/// What is stored, in words, and all that is wrong with it.
pub(crate) async fn check(field: &Field, dir: &Path) -> Result<(String, Vec<String>), String> {
    let expected = field.account();
    let mut problems = Vec::new();
    let homes = (0..field.publishers()).map(|number| dir.join(format!("publisher-{number}")));
    let spools = homes.map(|home| spool(&home.join("spool"))).collect::<Result<Vec<_>, _>>()?;
    for (number, spool) in spools.iter().enumerate() {
        let left = spool.last().0 - spool.confirmed().0;
        same(&mut problems, &format!("entries left in spool {number}"), &0, &left);
    }
    let file = dir.join("publisher-0/usage.db");
    let (tables, answers) = match (&field.engine, field.ingesters.first(), spools.first()) {
        (Some(engine), Some(ingester), _) => {
            (tables::clickhouse(&engine.url()).await?, answers::of(ingester).await?)
        }
        (_, _, Some(spool)) => (tables::sqlite(&file).await?, answers::of_file(&file, spool).await?),
        _ => return Err("nobody has published anything".to_owned()),
    };
    tables.judge(&expected, &mut problems);
    same_accounts(&mut problems, "the answer to those who ask", &expected, &answers.account);
    same(&mut problems, "dead letters", &0, &answers.dead_letters);
    Ok((tables.to_string(), problems))
}

fn spool(dir: &Path) -> Result<Arc<Spool>, String> {
    let options = Options { dir: dir.to_owned(), max_bytes: 4 << 30, segment_bytes: 4 << 20, readers: &[] };
    Spool::open(options).map(Arc::new).map_err(|error| error.to_string())
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
