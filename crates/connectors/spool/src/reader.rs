//! The reading end.

use crate::{
    frame::HEADER,
    segments::{Damage, Scan, Segment},
    writer::Written,
};
use signalbox_ports::{Entry, Position};
use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
};

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
    /// Damage up to this position was told.
    told: u64,
}

#[derive(Debug)]
struct Place {
    segment: Segment,
    scan: Scan,
}

impl Place {
    /// Position of the next entry.
    fn next(&self) -> u64 {
        self.segment.first + self.scan.passed
    }
}

impl Reader {
    pub(crate) fn new(dir: PathBuf, confirmed: u64) -> Self {
        Self { dir, place: None, confirmed, seen: 0, unconfirmed: VecDeque::new(), damages: 0, told: 0 }
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
            let here = self.place.take().filter(|place| place.next() <= from.max(place.segment.first));
            let place = match here {
                Some(place) => place,
                None => match self.find(from, written)? {
                    Some(place) => place,
                    None => return Ok(None),
                },
            };
            let place = self.place.insert(place);
            let is_last = place.segment.first == written.segment;
            if is_last {
                place.scan.extend(written.length);
            }
            let (before, payload) = (place.scan.damage, place.scan.next()?);
            self.tell_damage(before, payload.is_some());
            let Some(place) = &mut self.place else { return Ok(None) };
            if let Some(payload) = payload {
                let position = place.next() - 1;
                if position < from {
                    continue;
                }
                return Ok(Some((position, payload)));
            }
            if is_last {
                return Ok(None);
            }
            // More may have come to it before the next one was begun.
            if place.scan.extend_to_file()? {
                continue;
            }
            let (ended, next) = (place.segment.clone(), place.next());
            self.place = self.open_after(ended.first, written)?;
            match &self.place {
                None => return Ok(None),
                Some(place) if place.segment.first > next => {
                    let missing = place.segment.first - next;
                    self.tell_missing(&ended, next, missing);
                }
                Some(_) => {}
            }
        }
    }

    /// Opens the segment that holds a position.
    fn find(&self, from: u64, written: Written) -> io::Result<Option<Place>> {
        let segments = Segment::all(&self.dir)?;
        let holding = segments.partition_point(|segment| segment.first <= from).saturating_sub(1);
        segments.into_iter().nth(holding).map(|segment| open(segment, written)).transpose()
    }

    fn open_after(&self, ended: u64, written: Written) -> io::Result<Option<Place>> {
        let segments = Segment::all(&self.dir)?;
        let next = segments.into_iter().find(|segment| segment.first > ended);
        next.map(|segment| open(segment, written)).transpose()
    }

    fn remember(&mut self, position: u64, payload: usize) {
        if self.unconfirmed.back().is_none_or(|(last, _)| *last < position) {
            self.unconfirmed.push_back((position, (HEADER + payload) as u64));
        }
    }

    /// Says what was passed over since `before`: once, and not where it was safe elsewhere already.
    fn tell_damage(&mut self, before: Damage, found_another: bool) {
        let Some(place) = &self.place else { return };
        let (last, now) = (place.next() - 1 - u64::from(found_another), place.scan.damage);
        let harmless = last <= self.confirmed && now.unsure == before.unsure;
        if now.places == before.places || last <= self.told || harmless {
            return;
        }
        self.told = last;
        self.damages += now.places - before.places;
        let (file, bytes) = (place.segment.path.display(), now.bytes - before.bytes);
        let entries = now.entries - before.entries;
        tracing::error!(
            %file, bytes, entries,
            "the usage spool is damaged: accounts were passed over and are not counted"
        );
    }

    fn tell_missing(&mut self, file: &Segment, from: u64, entries: u64) {
        let last = from + entries - 1;
        if last <= self.told.max(self.confirmed) {
            return;
        }
        self.told = last;
        self.damages += 1;
        missing(&file.path, from, Some(entries));
    }

    /// Places at which something was no entry.
    pub(crate) fn damages(&self) -> u64 {
        self.damages
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

fn open(segment: Segment, written: Written) -> io::Result<Place> {
    let file = segment.open()?;
    let end = if segment.first == written.segment { written.length } else { file.metadata()?.len() };
    Ok(Place { segment, scan: Scan::new(file, 0, end) })
}

/// Says that entries are gone which should stand at the end of a file, or before it. How many is not always known.
pub(crate) fn missing(file: &Path, from: u64, entries: Option<u64>) {
    let file = file.display();
    tracing::error!(
        %file, from, entries,
        "the usage spool lacks entries: a file was cut or removed, and the accounts in it are not counted"
    );
}
