//! What a measure's own history leads one to expect.

use crate::{
    dispersion::Dispersion,
    minute::Minute,
    scale::{Expectation, Reading, Scale},
    seasons::Seasons,
};

/// Calls that a history must hold before anything is expected.
const LEAST_WEIGHT: f64 = 100.0;
/// Minutes from which the variation of means is known.
const LEAST_MINUTES: f64 = 60.0;

/// The history of one measure of one model: robust against incidents, and by hour of day.
#[derive(Debug, Clone)]
pub(crate) struct Baseline {
    scale: Scale,
    days: usize,
    usual: Seasons,
    dispersion: Dispersion,
    /// What was seen since an incident began, kept apart: it may be the new normal.
    incident: Option<Box<Seasons>>,
    /// Of the hour that runs.
    level: Option<f64>,
    spread: Option<f64>,
    newest: Minute,
}

impl Baseline {
    /// Of so many days, none of which is known yet.
    pub(crate) fn new(scale: Scale, days: usize) -> Self {
        Self {
            scale,
            days,
            usual: Seasons::new(scale, days),
            dispersion: Dispersion::default(),
            incident: None,
            level: None,
            spread: None,
            newest: Minute(0),
        }
    }

    /// What to expect in the hour that runs; nothing while too little is known.
    pub(crate) fn expect(&self) -> Option<Expectation> {
        let mut expected = self.rough()?;
        expected.dispersion = match (self.spread, self.scale) {
            (Some(spread), _) => spread.max(self.scale.least_dispersion()),
            (None, Scale::Share) => self.scale.least_dispersion(),
            (None, Scale::Ratio) => return None,
        };
        Some(expected)
    }

    /// Without over-dispersion, which is found with it.
    fn rough(&self) -> Option<Expectation> {
        Some(Expectation { scale: self.scale, level: self.level?, dispersion: 1.0 })
    }

    /// Takes a minute in. What is seen during an incident is no history.
    pub(crate) fn learn(&mut self, minute: Minute, reading: Reading, incident: bool) {
        if incident {
            let (scale, days) = (self.scale, self.days);
            self.incident.get_or_insert_with(|| Box::new(Seasons::new(scale, days))).add(minute, reading);
            return;
        }
        self.incident = None;
        if let Some(expected) = self.rough() {
            self.dispersion.add(expected.raw_score(reading));
        }
        self.usual.add(minute, reading);
    }

    /// What was seen since the incident began is the new normal.
    pub(crate) fn accept(&mut self, minute: Minute) {
        if let Some(incident) = self.incident.take() {
            self.usual = *incident;
            self.refresh(minute);
        }
    }

    /// A minute begins. Once an hour, what is expected is found anew.
    pub(crate) fn turn(&mut self, minute: Minute) {
        if minute.hour() <= self.newest.hour() {
            return;
        }
        if minute.day() > self.newest.day() {
            self.dispersion.fade();
        }
        self.newest = minute;
        self.refresh(minute);
    }

    fn refresh(&mut self, minute: Minute) {
        let known = self.dispersion.minutes() >= LEAST_MINUTES;
        self.spread = self.dispersion.deviation().filter(|_| known);
        let dispersion = self.spread.unwrap_or(1.0).max(self.scale.least_dispersion());
        let enough = self.usual.weight() >= LEAST_WEIGHT;
        self.level = self.usual.level(minute.hour_of_day(), dispersion).filter(|_| enough);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Reading = Reading { sum: 2.0, of: 100.0 };
    const BAD: Reading = Reading { sum: 50.0, of: 100.0 };

    fn learnt(minutes: u64) -> (Baseline, Minute) {
        let mut baseline = Baseline::new(Scale::Share, 7);
        let start = Minute(60 * 24 * 1000);
        for minute in 0..minutes {
            baseline.turn(Minute(start.0 + minute));
            baseline.learn(Minute(start.0 + minute), USUAL, false);
        }
        let now = Minute(start.0 + minutes);
        baseline.turn(now);
        (baseline, now)
    }

    #[test]
    fn nothing_is_expected_before_an_hour_is_known() {
        assert_eq!(learnt(59).0.expect(), None);
        assert!((learnt(60).0.expect().unwrap().level - 0.02).abs() < 0.001);
    }

    #[test]
    fn an_incident_is_no_history_until_it_is_accepted() {
        let (mut baseline, mut now) = learnt(60 * 24);
        for _ in 0..60 * 24 {
            baseline.learn(now, BAD, true);
            now = now.next();
            baseline.turn(now);
        }
        assert!(baseline.expect().unwrap().level < 0.021);
        baseline.accept(now);
        assert!(baseline.expect().unwrap().level > 0.45);
    }

    #[test]
    fn what_an_incident_taught_is_forgotten_when_it_is_over() {
        let (mut baseline, now) = learnt(60);
        baseline.learn(now, BAD, true);
        baseline.learn(now.next(), USUAL, false);
        baseline.accept(now.next());
        assert!(baseline.expect().unwrap().level < 0.021);
    }
}
