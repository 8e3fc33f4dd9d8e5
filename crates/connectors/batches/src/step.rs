//! Items of a window end or go on.

use crate::{
    end::{Ending, end},
    item::{KEY, KeyRow, key},
    join::{Joiner, join},
    pack::{self, Pack, Piece, packs},
    share::Changes,
    window::{Checked, hold},
};
use serde::Serialize;
use signalbox_ports::batches::{ItemKey, Kind, Lease, Rules, Step, Trail, WindowKey};
use signalbox_sql::{Session, json, time};
use sqlx::Row;
use std::{collections::BTreeMap, time::SystemTime};

/// An item of the window, as far as it must be known.
struct Here {
    item_id: String,
    bytes: i64,
    complete_by: SystemTime,
}

/// An item that goes on.
struct Going<'a> {
    key: ItemKey,
    here: Here,
    trail: &'a Trail,
    history: &'a [u8],
}

pub(crate) async fn step(
    session: &mut Session<'_>,
    lease: &Lease,
    steps: &[(ItemKey, Step)],
    now: SystemTime,
    rules: &Rules,
) -> Checked<u64> {
    let held = match hold(session, lease).await? {
        Ok(held) => held,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut here = here(session, &lease.window_id, steps).await?;
    let (mut endings, mut goings, mut changes) = (Vec::new(), Vec::new(), Changes::default());
    for (key, step) in steps {
        // Each once, the first time it is named.
        let Some(here) = here.remove(key) else { continue };
        match step {
            Step::End(end) => {
                changes.ends(&lease.window_id, key.job);
                endings.push(Ending { key: *key, item_id: here.item_id, end });
            }
            Step::Go { trail, history } => {
                changes.goes(&lease.window_id, key.job);
                goings.push(Going { key: *key, here, trail, history });
            }
        }
    }
    go(session, &goings, held.window.key.kind, now, rules, &mut changes).await?;
    changes.save(session).await?;
    end(session, &endings, now, rules).await?;
    Ok(Ok((endings.len() + goings.len()) as u64))
}

/// Those of the items that are in the window.
async fn here(
    session: &mut Session<'_>,
    window_id: &str,
    steps: &[(ItemKey, Step)],
) -> sqlx::Result<BTreeMap<ItemKey, Here>> {
    let keys: Vec<KeyRow> = steps.iter().map(|(key, _)| (*key).into()).collect();
    let sql = format!(
        "SELECT t.job_no, t.item_no, t.item_id, t.bytes, j.complete_by FROM batch_items t \
         JOIN batch_jobs j ON j.job_no = t.job_no \
         WHERE t.window_id = $1 AND (t.job_no, t.item_no) IN (SELECT job_no, item_no FROM {})",
        session.engine.given("$2", KEY)
    );
    let query = session.query(sql).bind(window_id.to_owned()).bind(json(&keys)?);
    let rows = query.fetch_all(&mut *session.connection).await?;
    let here = |row| {
        let row: &sqlx::any::AnyRow = row;
        let complete_by = time(row.try_get("complete_by")?);
        Ok((key(row)?, Here { item_id: row.try_get("item_id")?, bytes: row.try_get("bytes")?, complete_by }))
    };
    rows.iter().map(here).collect()
}

/// Items join windows for other targets.
async fn go(
    session: &mut Session<'_>,
    goings: &[Going<'_>],
    kind: Kind,
    now: SystemTime,
    rules: &Rules,
    changes: &mut Changes,
) -> sqlx::Result<()> {
    let joiner = |going: &Going<'_>| Joiner {
        key: WindowKey { target: going.trail.target().clone(), kind },
        bytes: going.here.bytes.max(0).cast_unsigned(),
        complete_by: going.here.complete_by,
        not_before: going.trail.not_before(),
    };
    let joiners: Vec<Joiner> = goings.iter().map(joiner).collect();
    let windows = join(session, &joiners, now, rules).await?;
    for (going, window_id) in goings.iter().zip(&windows) {
        changes.joins(window_id, going.key.job);
    }
    write(session, goings, &windows).await
}

async fn write(session: &mut Session<'_>, goings: &[Going<'_>], windows: &[String]) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Row<'a> {
        job_no: i64,
        item_no: i64,
        window_id: &'a str,
        trail: &'a Trail,
        #[serde(flatten)]
        piece: Piece,
    }
    let columns = format!("job_no bigint, item_no bigint, window_id text, trail text, {}", pack::COLUMNS);
    let sql = format!(
        "UPDATE batch_items AS t SET window_id = given.window_id, trail = given.trail, history = {}, note = $3 FROM {} \
         WHERE t.job_no = given.job_no AND t.item_no = given.item_no",
        session.engine.slice("$2", "given.start", "given.size"),
        session.engine.given("$1", &columns)
    );
    let paired: Vec<(&Going<'_>, &String)> = goings.iter().zip(windows).collect();
    let packs = packs(
        &paired,
        |(going, _)| going.history,
        |(going, window_id), piece| Row {
            job_no: going.key.job,
            item_no: going.key.item,
            window_id,
            trail: going.trail,
            piece,
        },
    );
    for Pack { rows, bytes } in packs {
        let query = session.query(sql.clone()).bind(json(&rows)?).bind(bytes).bind(Vec::<u8>::new());
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}
