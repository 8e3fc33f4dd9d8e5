//! Reading a spool from outside.

use crate::segments::{Scan, Segment};
use prost::Message;
use signalbox_api::v1::UsageEvent;
use std::{fs, io, path::Path};

/// The accounts in a directory, oldest first, also while a process writes there: those that wait, and those that are
/// safe elsewhere but not removed yet.
///
/// # Errors
/// The directory cannot be read.
pub fn peek(dir: &Path) -> io::Result<Vec<UsageEvent>> {
    let mut events = Vec::new();
    for segment in Segment::all(dir)? {
        let file = fs::File::open(&segment.path)?;
        let length = file.metadata()?.len();
        let mut scan = Scan::new(file, 0, length);
        while let Some(payload) = scan.next()? {
            events.extend(UsageEvent::decode(payload.as_slice()));
        }
    }
    Ok(events)
}
