//! Items are dealt to open windows, and to new ones.

use crate::codes::{Code, count, stored, time_of};
use serde::Serialize;
use signalbox_ports::batches::{Level, Room, Rules, WindowKey, WindowState, alike};
use signalbox_sql::{Session, json, nanos};
use sqlx::Row;
use std::{collections::BTreeMap, time::SystemTime};
use uuid::Uuid;

/// An item that looks for a window.
#[derive(Debug, Clone)]
pub(crate) struct Joiner {
    pub(crate) key: WindowKey,
    pub(crate) bytes: u64,
    pub(crate) complete_by: SystemTime,
    /// It is not to be handed over before.
    pub(crate) not_before: Option<SystemTime>,
}

/// What items of a window have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alike<'a> {
    key: &'a WindowKey,
    complete_by: (SystemTime, SystemTime),
    not_before: Option<SystemTime>,
}

/// A window that is being filled.
#[derive(Debug, Clone)]
struct Filling {
    window_id: String,
    level: Level,
    opened_at: SystemTime,
    due: SystemTime,
}

/// The window of each.
pub(crate) async fn join(
    session: &mut Session<'_>,
    joiners: &[Joiner],
    now: SystemTime,
    rules: &Rules,
) -> sqlx::Result<Vec<String>> {
    let mut alike: BTreeMap<Alike<'_>, Vec<usize>> = BTreeMap::new();
    for (place, joiner) in joiners.iter().enumerate() {
        alike.entry(Alike::of(joiner, now)).or_default().push(place);
    }
    let mut windows = vec![String::new(); joiners.len()];
    for (alike, places) in alike {
        let (key, room) = (alike.key, rules.room(alike.key));
        let latest = now + rules.window_wait;
        let mut fillings: Vec<Filling> =
            with_room(session, &alike, room, latest).await?.into_iter().collect();
        for place in places {
            let joiner = &joiners[place];
            let by = rules.close_by(key.target.lane, now, joiner.complete_by);
            let (full, by) = alike.not_before.map_or((now, by), |time| (time, time));
            windows[place] = deal(&mut fillings, room, joiner.bytes, now, Due { full, by }).to_owned();
        }
        save(session, key, &fillings).await?;
    }
    Ok(windows)
}

impl<'a> Alike<'a> {
    fn of(joiner: &'a Joiner, now: SystemTime) -> Self {
        let not_before = joiner.not_before.filter(|time| *time > now);
        Self { key: &joiner.key, complete_by: alike(joiner.complete_by), not_before }
    }
}

/// When a window is handed over: once it is full, and otherwise.
#[derive(Debug, Clone, Copy)]
struct Due {
    full: SystemTime,
    by: SystemTime,
}

/// The window that an item joins: the last one, or a new one.
fn deal(fillings: &mut Vec<Filling>, room: Room, bytes: u64, now: SystemTime, due: Due) -> &str {
    match fillings.last_mut() {
        Some(last) if room.takes(last.level, bytes) => {}
        last => {
            if let Some(last) = last {
                last.due = due.full;
            }
            let window_id = Uuid::now_v7().to_string();
            fillings.push(Filling { window_id, level: Level::default(), opened_at: now, due: due.by });
        }
    }
    let Some(last) = fillings.last_mut() else { return "" };
    last.level = last.level.with(bytes);
    last.due = if room.is_full(last.level) { due.full } else { last.due.min(due.by) };
    &last.window_id
}

/// An open window with room that nobody else is filling just now.
///
/// One for items that must wait is theirs alone: others would be held up by it, or hurry it.
async fn with_room(
    session: &mut Session<'_>,
    alike: &Alike<'_>,
    room: Room,
    latest: SystemTime,
) -> sqlx::Result<Option<Filling>> {
    let (key, (from, until)) = (alike.key, alike.complete_by);
    let (earliest, latest) =
        alike.not_before.map_or_else(|| (0, nanos(latest)), |time| (nanos(time), nanos(time)));
    let sql = format!(
        "SELECT window_id, items, bytes, opened_at, due_at FROM batch_windows t WHERE state = 0 AND root_id = '' AND vendor = $1 \
         AND model = $2 AND lane = $3 AND kind = $4 AND items < $5 AND bytes < $6 \
         AND due_at BETWEEN $7 AND $8 AND NOT EXISTS (SELECT 1 FROM batch_shares s JOIN batch_jobs j \
         ON j.job_no = s.job_no WHERE s.window_id = t.window_id AND s.live > 0 AND (j.complete_by < $9 \
         OR j.complete_by >= $10)) ORDER BY opened_at DESC LIMIT 1{}",
        session.engine.for_update_of_free()
    );
    let query = session
        .query(sql)
        .bind(key.target.vendor.clone())
        .bind(key.target.model.clone())
        .bind(key.target.lane.code())
        .bind(key.kind.code())
        .bind(stored(room.items))
        .bind(stored(room.bytes))
        .bind(earliest)
        .bind(latest)
        .bind(nanos(from))
        .bind(nanos(until));
    let Some(row) = query.fetch_optional(&mut *session.connection).await? else { return Ok(None) };
    Ok(Some(Filling {
        window_id: row.try_get("window_id")?,
        level: Level { items: count(&row, "items")?, bytes: count(&row, "bytes")? },
        opened_at: time_of(&row, "opened_at")?,
        due: time_of(&row, "due_at")?,
    }))
}

async fn save(session: &mut Session<'_>, key: &WindowKey, fillings: &[Filling]) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Row<'a> {
        window_id: &'a str,
        items: i64,
        bytes: i64,
        opened_at: i64,
        due_at: i64,
    }
    let rows = fillings.iter().map(|filling| Row {
        window_id: &filling.window_id,
        items: stored(filling.level.items),
        bytes: stored(filling.level.bytes),
        opened_at: nanos(filling.opened_at),
        due_at: nanos(filling.due),
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let columns = "window_id text, items bigint, bytes bigint, opened_at bigint, due_at bigint";
    let sql = format!(
        "INSERT INTO batch_windows (window_id, vendor, model, lane, kind, state, items, bytes, live, opened_at, \
         due_at, handed_at, vendor_batch_id, submitted_at, expires_at, cancel_asked, ended_at, error_reason, \
         lease_owner, lease_no, lease_until) SELECT window_id, $2, $3, $4, $5, $6, items, bytes, 0, opened_at, due_at, \
         0, '', 0, 0, 0, 0, '', '', 0, 0 FROM {} WHERE true ON CONFLICT (window_id) DO UPDATE SET \
         items = excluded.items, bytes = excluded.bytes, due_at = excluded.due_at",
        session.engine.given("$1", columns)
    );
    let query = session
        .query(sql)
        .bind(json(&rows)?)
        .bind(key.target.vendor.clone())
        .bind(key.target.model.clone())
        .bind(key.target.lane.code())
        .bind(key.kind.code())
        .bind(WindowState::Open.code());
    query.execute(&mut *session.connection).await?;
    Ok(())
}
