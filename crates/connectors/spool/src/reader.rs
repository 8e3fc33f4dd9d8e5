//! The reading end.

use crate::{
    frame::HEADER,
    segments::{Scan, Segment},
    writer::Written,
};
use signalbox_ports::{Entry, Position};
use std::{collections::VecDeque, io, path::PathBuf};

/// Reads entries in order and remembers how long those are that were read and not confirmed.
#[derive(Debug)]
pub(crate) struct Reader {
    dir: PathBuf,
    place: Option<Place>,
    /// Everything up to here is confirmed.
    confirmed: u64,
    /// The highest position ever read, by the process before this one, too.
    seen: u64,
    unconfirmed: VecDeque<(u64, u64)>,
    damages: u64,
}

#[derive(Debug)]
struct Place {
    segment: u64,
    /// Position of the next entry.
    next: u64,
    scan: Scan,
}

impl Reader {
    pub(crate) fn new(dir: PathBuf, confirmed: u64) -> Self {
        Self { dir, place: None, confirmed, seen: 0, unconfirmed: VecDeque::new(), damages: 0 }
    }

    /// What was written before this process began may have been read before.
    pub(crate) fn may_have_seen(&mut self, through: u64) {
        self.seen = self.seen.max(through);
    }

    /// Up to `most` entries after `after`, of those written.
    pub(crate) fn read(
        &mut self,
        after: Option<Position>,
        most: usize,
        written: Written,
    ) -> io::Result<Vec<Entry>> {
        let mut wanted = after.map_or(self.confirmed, |position| position.0).max(self.confirmed) + 1;
        let mut entries = Vec::new();
        while entries.len() < most && wanted < written.next {
            let Some((position, payload)) = self.next(wanted, written)? else { break };
            wanted = position + 1;
            self.remember(position, payload.len());
            let again = position <= self.seen;
            self.seen = self.seen.max(position);
            entries.push(Entry { position: Position(position), payload, again });
        }
        Ok(entries)
    }

    /// The first entry at or after `from`.
    fn next(&mut self, from: u64, written: Written) -> io::Result<Option<(u64, Vec<u8>)>> {
        loop {
            // One that has read on goes back; one at the start of its file has nothing before it to go back to.
            let here = self.place.take().filter(|place| place.next <= from.max(place.segment));
            let place = match here {
                Some(place) => place,
                None => match self.find(from, written)? {
                    Some(place) => place,
                    None => return Ok(None),
                },
            };
            let place = self.place.insert(place);
            if place.segment == written.segment {
                place.scan.extend(written.length);
            }
            if let Some(payload) = place.scan.next()? {
                let position = place.next;
                place.next += 1;
                if position < from {
                    continue;
                }
                return Ok(Some((position, payload)));
            }
            let (ended, damages) = (place.segment, place.scan.damages);
            if ended == written.segment {
                return Ok(None);
            }
            // More may have come to it before the next one was begun.
            if place.scan.extend_to_file()? {
                continue;
            }
            self.note_damages(ended, damages);
            self.place = self.open_after(ended, written)?;
            if self.place.is_none() {
                return Ok(None);
            }
        }
    }

    /// Opens the segment that holds a position and goes to it.
    fn find(&self, from: u64, written: Written) -> io::Result<Option<Place>> {
        let segments = Segment::all(&self.dir)?;
        let holding = segments.partition_point(|segment| segment.first <= from).saturating_sub(1);
        let Some(segment) = segments.get(holding) else { return Ok(None) };
        let mut place = open(segment, written)?;
        while place.next < from && place.scan.next()?.is_some() {
            place.next += 1;
        }
        Ok(Some(place))
    }

    fn open_after(&self, ended: u64, written: Written) -> io::Result<Option<Place>> {
        let segments = Segment::all(&self.dir)?;
        segments
            .iter()
            .find(|segment| segment.first > ended)
            .map(|segment| open(segment, written))
            .transpose()
    }

    fn remember(&mut self, position: u64, payload: usize) {
        if self.unconfirmed.back().is_none_or(|(last, _)| *last < position) {
            self.unconfirmed.push_back((position, (HEADER + payload) as u64));
        }
    }

    fn note_damages(&mut self, segment: u64, damages: u64) {
        if damages > 0 {
            self.damages += damages;
            tracing::error!(segment, damages, "the usage spool is damaged: entries were passed over");
        }
    }

    /// Places at which something was no entry.
    pub(crate) fn damages(&self) -> u64 {
        self.damages + self.place.as_ref().map_or(0, |place| place.scan.damages)
    }

    pub(crate) fn confirmed(&self) -> Position {
        Position(self.confirmed)
    }

    /// Forgets entries; returns how many bytes they had.
    pub(crate) fn confirm(&mut self, through: u64) -> u64 {
        self.confirmed = self.confirmed.max(through);
        let mut bytes = 0;
        while let Some((position, length)) = self.unconfirmed.front()
            && *position <= through
        {
            bytes += length;
            self.unconfirmed.pop_front();
        }
        bytes
    }
}

fn open(segment: &Segment, written: Written) -> io::Result<Place> {
    let file = segment.open()?;
    let end = if segment.first == written.segment { written.length } else { file.metadata()?.len() };
    Ok(Place { segment: segment.first, next: segment.first, scan: Scan::new(file, 0, end) })
}
