//! Opening a spool: what the process before left is taken up.

use crate::{
    OpenError, Options, Spool,
    end::End,
    frame::HEADER,
    metrics,
    pending::{Pending, Refused},
    reader::missing,
    segments::{Scan, Segment, named},
    slots::{Found, Slots},
    writer::Writer,
};
use prost::Message;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::OpenAccount;
use std::{
    collections::{BTreeSet, HashSet},
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
    let path = dir.join("lock");
    let file = File::create(&path).map_err(|error| named(&path, &error))?;
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
    let ends: Vec<&End> = std::iter::once(&bus).chain(others.iter().map(|(_, end)| &**end)).collect();
    let safe_until = ends.iter().map(|end| end.confirmed().0).max().unwrap_or_default();
    let (slots, drafts, died_at) = Slots::open(&dir.join("open"))?;
    let drafts: Vec<Draft> = drafts.into_iter().filter_map(Draft::read).collect();
    let (told, gaps) = look_through(&dir, &ends, &drafts)?;
    let writer = Writer::open(&dir, safe_until + 1, options.segment_bytes)?;
    metrics::max(options.max_bytes);
    metrics::damages(gaps);
    let spool = Spool {
        bus,
        others,
        writer: Mutex::new(writer),
        options,
        _lock: held,
        slots,
        refused: Mutex::new(Refused::default()),
        resent: Mutex::new(BTreeSet::new()),
        gaps,
    };
    let orphans = drafts.into_iter().filter(|draft| !told.contains(&draft.event.event_id)).collect();
    take_in(&spool, orphans, died_at)?;
    // Whatever stands here now may have been read by the process before.
    let seen = spool.written().next - 1;
    spool.ends().for_each(|end| end.may_have_seen(seen));
    Ok(spool)
}

/// A request that was under way when its process died.
struct Draft {
    slot: u32,
    event: UsageEvent,
}

impl Draft {
    fn read((slot, draft): Found) -> Option<Self> {
        Some(Self { slot, event: UsageEvent::decode(draft.as_slice()).ok()? })
    }
}

/// Makes accounts of drafts. Those that a full disk does not take stay drafts until it does.
fn take_in(spool: &Spool, orphans: Vec<Draft>, died_at: SystemTime) -> io::Result<()> {
    if !orphans.is_empty() {
        let requests = orphans.len();
        tracing::warn!(
            requests,
            "requests under way when the process before died are accounted for by estimate"
        );
    }
    spool.slots.keep(&orphans.iter().map(|draft| draft.slot).collect::<Vec<_>>());
    let mut written = true;
    for Draft { slot, mut event } in orphans {
        end(&mut event, died_at);
        let draft = Some(OpenAccount(slot));
        written = spool.write(Pending { payload: event.encode_to_vec(), again: false, draft });
    }
    if written { spool.slots.clear() } else { Ok(()) }
}

/// A draft becomes an account: it ended when its process was last heard of, and not before it began.
fn end(event: &mut UsageEvent, died_at: SystemTime) {
    if event.end_time.is_none() {
        let began = event.start_time.and_then(|time| SystemTime::try_from(time).ok());
        event.end_time = Some(began.map_or(died_at, |began| began.max(died_at)).into());
    }
}

/// Tells each end how many bytes wait for it, and finds which of the drafts' events are among all entries: their process
/// died between closing an account and removing its draft. Also at how many places entries are missing.
fn look_through(dir: &Path, ends: &[&End], drafts: &[Draft]) -> io::Result<(HashSet<String>, u64)> {
    let ids: HashSet<_> = drafts.iter().map(|draft| draft.event.event_id.as_str()).collect();
    let confirmed: Vec<_> = ends.iter().map(|end| (end, end.confirmed().0)).collect();
    let (mut told, mut next) = (HashSet::new(), 0);
    let segments = Segment::all(dir)?;
    for segment in &segments {
        let file = segment.open()?;
        let length = file.metadata()?.len();
        let mut scan = Scan::new(file, 0, length);
        while let Some(payload) = scan.next()? {
            let position = segment.first + scan.passed - 1;
            let waiting = confirmed.iter().filter(|(_, confirmed)| position > *confirmed);
            waiting.for_each(|(end, _)| end.grew((HEADER + payload.len()) as u64));
            if !ids.is_empty()
                && let Ok(event) = UsageEvent::decode(payload.as_slice())
                && ids.contains(event.event_id.as_str())
            {
                told.insert(event.event_id);
            }
        }
        next = segment.first + scan.passed;
    }
    // The bus' place counts: other readers may be new, or have been away.
    let confirmed = ends.first().map_or(0, |end| end.confirmed().0);
    Ok((told, gaps(dir, &segments, confirmed, next)))
}

/// Whether files are there from the first entry that is not confirmed on, and reach beyond what is: the last one is never
/// removed. What is missing between them is found when it is read.
fn gaps(dir: &Path, segments: &[Segment], confirmed: u64, next: u64) -> u64 {
    let wanted = confirmed + 1;
    match (segments.first(), segments.last()) {
        _ if confirmed == 0 => return 0,
        (Some(first), _) if first.first > wanted => {
            missing(&first.path, wanted, Some(first.first - wanted));
        }
        (_, Some(last)) if next < wanted => missing(&last.path, next, None),
        (None, _) => missing(dir, wanted, None),
        _ => return 0,
    }
    1
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
