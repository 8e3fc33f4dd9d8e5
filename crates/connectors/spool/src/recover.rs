//! Opening a spool: what the process before left is taken up.

use crate::{
    OpenError, Options, Spool,
    end::End,
    metrics,
    segments::{Scan, Segment},
    slots::Slots,
    writer::Writer,
};
use prost::Message;
use signalbox_api::v1::UsageEvent;
use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    fs::{self, File, TryLockError},
    io,
    path::Path,
    sync::{Arc, Mutex},
    time::SystemTime,
};

impl Spool {
    /// Opens a spool. Requests that were under way when the process before died are entries from now on, as their drafts
    /// tell them.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let dir = || options.dir.display().to_string();
        let held = hold(&options.dir).map_err(|error| OpenError::Io { dir: dir(), error })?;
        let Some(held) = held else { return Err(OpenError::InUse { dir: dir() }) };
        take_up(options.clone(), held).map_err(|error| OpenError::Io { dir: dir(), error })
    }
}

/// Makes the directory and takes its lock; `None` where another process has it.
fn hold(dir: &Path) -> io::Result<Option<File>> {
    fs::create_dir_all(dir)?;
    let file = File::create(dir.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn take_up(options: Options, held: File) -> io::Result<Spool> {
    let dir = options.dir.clone();
    let bus = End::open(&dir, "confirmed")?;
    let other = |name: &&'static str| Ok((*name, Arc::new(End::open(&dir, &format!("confirmed-{name}"))?)));
    let others = options.readers.iter().map(other).collect::<io::Result<Vec<_>>>()?;
    let ends = || std::iter::once(&bus).chain(others.iter().map(|(_, end)| &**end));
    let safe_until = ends().map(|end| end.confirmed().0).max().unwrap_or_default();
    let writer = Writer::open(&dir, safe_until + 1, options.segment_bytes)?;
    let (slots, drafts, died_at) = Slots::open(&dir.join("open"))?;
    let drafts: Vec<_> =
        drafts.iter().filter_map(|draft| UsageEvent::decode(draft.as_slice()).ok()).collect();
    let told = look_through(&dir, &ends().collect::<Vec<_>>(), &drafts)?;
    metrics::max(options.max_bytes);
    let spool = Spool {
        bus,
        others,
        writer: Mutex::new(writer),
        options,
        _lock: held,
        slots,
        refused: Mutex::new(VecDeque::new()),
        resent: Mutex::new(BTreeSet::new()),
    };
    let orphans: Vec<_> = drafts.into_iter().filter(|draft| !told.contains(&draft.event_id)).collect();
    if !orphans.is_empty() {
        let requests = orphans.len();
        tracing::warn!(
            requests,
            "requests under way when the process before died are accounted for by estimate"
        );
    }
    for mut event in orphans {
        end(&mut event, died_at);
        spool.write(event.encode_to_vec(), false);
    }
    // Whatever stands here now may have been read by the process before.
    let seen = spool.written().next - 1;
    spool.ends().for_each(|end| end.may_have_seen(seen));
    spool.slots.clear()?;
    Ok(spool)
}

/// A draft becomes an account: it ended when its process was last heard of.
fn end(event: &mut UsageEvent, died_at: SystemTime) {
    if event.end_time.is_none() {
        event.end_time = Some(died_at.into());
    }
}

/// Tells each end how many bytes wait for it, and finds which of the drafts' events are among all entries: their process
/// died between closing an account and removing its draft.
fn look_through(dir: &Path, ends: &[&End], drafts: &[UsageEvent]) -> io::Result<HashSet<String>> {
    let ids: HashSet<_> = drafts.iter().map(|draft| draft.event_id.as_str()).collect();
    let ends: Vec<_> = ends.iter().map(|end| (end, end.confirmed().0)).collect();
    let mut told = HashSet::new();
    for segment in Segment::all(dir)? {
        let file = segment.open()?;
        let length = file.metadata()?.len();
        let mut scan = Scan::new(file, 0, length);
        let mut position = segment.first;
        let mut before = 0;
        while let Some(payload) = scan.next()? {
            let waiting = ends.iter().filter(|(_, confirmed)| position > *confirmed);
            waiting.for_each(|(end, _)| end.grew(scan.offset() - before));
            if !ids.is_empty()
                && let Ok(event) = UsageEvent::decode(payload.as_slice())
                && ids.contains(event.event_id.as_str())
            {
                told.insert(event.event_id);
            }
            before = scan.offset();
            position += 1;
        }
    }
    Ok(told)
}

/// Removes the segments of which every entry was confirmed by all; the last one stays.
pub(crate) fn remove_confirmed(dir: &Path, through: u64, last: u64) -> io::Result<()> {
    let segments = Segment::all(dir)?;
    for (segment, next) in segments.iter().zip(segments.iter().skip(1)) {
        if next.first > last || next.first > through + 1 {
            break;
        }
        match fs::remove_file(&segment.path) {
            // Another reader was quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}
