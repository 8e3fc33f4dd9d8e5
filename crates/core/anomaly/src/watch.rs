//! The watch over all models.

use crate::{
    alert::{Alert, Subject, Timing},
    minute::Minute,
    rule::{Per, Rule},
    tally::Tally,
    track::Track,
};
use std::collections::BTreeMap;

/// Models and vendors that are watched at most. Servers of one's own take any model name a caller makes up.
const MOST_SUBJECTS: usize = 1000;
const MINUTES_OF_DAY: u64 = 24 * 60;

/// The calls of a model in a minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// Vendor entry.
    pub vendor: String,
    /// Model.
    pub model: String,
    /// What was counted.
    pub tally: Tally,
}

/// Watches all models and vendors by all rules. Give it whole minutes, oldest first; start with those of the last days.
#[derive(Debug, Clone)]
pub struct Watch {
    rules: Vec<Rule>,
    timing: Timing,
    days: usize,
    tracks: BTreeMap<Subject, Track>,
    newest: Minute,
    full: bool,
}

impl Watch {
    /// With these rules and histories of so many days; knows nothing yet.
    pub fn new(rules: Vec<Rule>, timing: Timing, days: usize) -> Self {
        Self { rules, timing, days, tracks: BTreeMap::new(), newest: Minute(0), full: false }
    }

    /// Takes in a minute that is over, and gives the alerts whose state it changed. One that is not newer than the last
    /// one changes nothing.
    pub fn minute(&mut self, minute: Minute, calls: &[Calls]) -> Vec<Alert> {
        let mut changed = Vec::new();
        if minute <= self.newest {
            return changed;
        }
        self.forget(minute);
        self.newest = minute;
        let tallies = tallies(calls);
        tallies.keys().for_each(|subject| self.post(subject));
        for (subject, track) in &mut self.tracks {
            track.minute(subject, minute, tallies.get(subject), self.timing, &mut changed);
        }
        changed
    }

    /// Looks at a minute that still runs, for what cannot wait for its end. May be called again and again.
    pub fn glance(&mut self, minute: Minute, calls: &[Calls]) -> Vec<Alert> {
        let mut changed = Vec::new();
        if minute <= self.newest {
            return changed;
        }
        for (subject, tally) in tallies(calls) {
            self.post(&subject);
            if let Some(track) = self.tracks.get_mut(&subject) {
                track.glance(&subject, minute, &tally, self.timing, &mut changed);
            }
        }
        changed
    }

    /// Alerts that are not closed.
    pub fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.tracks.values().flat_map(Track::alerts)
    }

    /// Whether there are more models than are watched.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn post(&mut self, subject: &Subject) {
        if self.tracks.contains_key(subject) {
            return;
        }
        self.full = self.tracks.len() >= MOST_SUBJECTS;
        if !self.full {
            let per = if subject.model.is_empty() { Per::Vendor } else { Per::Model };
            let rules = self.rules.iter().filter(|rule| rule.per == per);
            self.tracks.insert(subject.clone(), Track::new(rules, self.days));
        }
    }

    /// Nobody has called these for as long as histories are.
    fn forget(&mut self, minute: Minute) {
        if minute.day() > self.newest.day() {
            let longest = self.days as u64 * MINUTES_OF_DAY;
            self.tracks
                .retain(|_, track| minute.since(track.seen) <= longest || track.alerts().next().is_some());
        }
    }
}

/// By model, and by vendor.
fn tallies(calls: &[Calls]) -> BTreeMap<Subject, Tally> {
    let mut tallies: BTreeMap<Subject, Tally> = BTreeMap::new();
    for Calls { vendor, model, tally } in calls {
        let whole = Subject { vendor: vendor.clone(), model: String::new() };
        tallies.entry(whole).or_default().add(tally);
        if !model.is_empty() {
            let one = Subject { vendor: vendor.clone(), model: model.clone() };
            tallies.entry(one).or_default().add(tally);
        }
    }
    tallies
}
