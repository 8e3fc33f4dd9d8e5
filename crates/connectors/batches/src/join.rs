//! Items are dealt to open windows, and to new ones.

use crate::codes::{Code, count, stored, time_of};
use serde::Serialize;
use signalbox_ports::batches::{Level, Room, Rules, WindowKey, WindowState};
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
    let mut alike: BTreeMap<&WindowKey, Vec<usize>> = BTreeMap::new();
    for (place, joiner) in joiners.iter().enumerate() {
        alike.entry(&joiner.key).or_default().push(place);
    }
    let mut windows = vec![String::new(); joiners.len()];
    for (key, places) in alike {
        let room = rules.room(key);
        let mut fillings: Vec<Filling> = with_room(session, key, room).await?.into_iter().collect();
        for place in places {
            let joiner = &joiners[place];
            let by = rules.close_by(key.target.lane, now, joiner.complete_by);
            windows[place] = deal(&mut fillings, room, joiner.bytes, now, by).to_owned();
        }
        save(session, key, &fillings).await?;
    }
    Ok(windows)
}

/// The window that an item joins: the last one, or a new one.
fn deal(fillings: &mut Vec<Filling>, room: Room, bytes: u64, now: SystemTime, by: SystemTime) -> &str {
    match fillings.last_mut() {
        Some(last) if room.takes(last.level, bytes) => {}
        last => {
            if let Some(last) = last {
                last.due = now;
            }
            let window_id = Uuid::now_v7().to_string();
            fillings.push(Filling { window_id, level: Level::default(), opened_at: now, due: by });
        }
    }
    let Some(last) = fillings.last_mut() else { return "" };
    last.level = last.level.with(bytes);
    last.due = if room.is_full(last.level) { now } else { last.due.min(by) };
    &last.window_id
}

/// An open window with room that nobody else is filling just now.
async fn with_room(session: &mut Session<'_>, key: &WindowKey, room: Room) -> sqlx::Result<Option<Filling>> {
    let sql = format!(
        "SELECT window_id, items, bytes, opened_at, due_at FROM batch_windows t WHERE state = 0 AND vendor = $1 \
         AND model = $2 AND lane = $3 AND kind = $4 AND items < $5 AND bytes < $6 ORDER BY opened_at DESC LIMIT 1{}",
        session.engine.for_update_of_free()
    );
    let query = session
        .query(sql)
        .bind(key.target.vendor.clone())
        .bind(key.target.model.clone())
        .bind(key.target.lane.code())
        .bind(key.kind.code())
        .bind(stored(room.items))
        .bind(stored(room.bytes));
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
