//! What was usual at each hour of the day, on the last days.

use crate::{
    minute::Minute,
    scale::{Reading, Scale},
};

const HOURS: usize = 24;
/// How much what is known of all hours weighs against what is known of one.
const STRENGTH: f64 = 500.0;
/// How much the hours beside one tell of it.
const BESIDE: f64 = 0.5;
/// What is believed of a share before anything is known: Beta(1.5, 98.5).
const PRIOR: Cell = Cell { sum: 1.5, weight: 100.0 };
/// An hour that lies this many deviations from the median of its days was an incident.
const INCIDENT: f64 = 6.0;
/// Days that can outvote one.
const QUORUM: usize = 4;

/// An hour of a day: levels on the measure's scale, by weight.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    sum: f64,
    weight: f64,
}

impl Cell {
    fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, weight: self.weight + other.weight }
    }

    fn times(self, share: f64) -> Self {
        Self { sum: self.sum * share, weight: self.weight * share }
    }

    fn level(self) -> f64 {
        self.sum / self.weight
    }
}

/// A ring of days.
#[derive(Debug, Clone)]
pub(crate) struct Seasons {
    scale: Scale,
    days: Vec<[Cell; HOURS]>,
    /// The newest day in it.
    newest: u64,
}

impl Seasons {
    /// Of so many days, none of which is known yet.
    pub(crate) fn new(scale: Scale, days: usize) -> Self {
        Self { scale, days: vec![[Cell::default(); HOURS]; days.max(1)], newest: 0 }
    }

    /// Takes a minute in.
    pub(crate) fn add(&mut self, minute: Minute, reading: Reading) {
        self.advance(minute.day());
        let slot = self.slot(minute.day());
        let weight = self.scale.weight(reading);
        let cell = Cell { sum: self.scale.level(reading.value()) * weight, weight };
        if let Some(known) = self.days.get_mut(slot).and_then(|day| day.get_mut(minute.hour_of_day())) {
            *known = known.and(cell);
        }
    }

    /// Forgets the days whose places the days until this one take.
    fn advance(&mut self, day: u64) {
        let passed = day.saturating_sub(self.newest).min(self.days.len() as u64);
        for back in 0..passed {
            let slot = self.slot(day - back);
            if let Some(stale) = self.days.get_mut(slot) {
                *stale = [Cell::default(); HOURS];
            }
        }
        self.newest = self.newest.max(day);
    }

    fn slot(&self, day: u64) -> usize {
        (day % self.days.len() as u64) as usize
    }

    /// How much is known in all.
    pub(crate) fn weight(&self) -> f64 {
        self.days.iter().flatten().map(|cell| cell.weight).sum()
    }

    /// What is usual at this hour of the day: that of the same hour on all days and half of the hours beside it, drawn
    /// towards that of all hours where little is known. Incidents that nobody noticed are left out.
    pub(crate) fn level(&self, hour_of_day: usize, dispersion: f64) -> Option<f64> {
        let known = self.days.iter().flatten().fold(Cell::default(), |sum, cell| sum.and(*cell));
        let any = match self.scale {
            Scale::Share => known.and(PRIOR),
            Scale::Ratio => known,
        };
        if any.weight <= 0.0 {
            return None;
        }
        let usual = any.level();
        let hour = self.usual_hour(hour_of_day, dispersion);
        let beside = [(hour_of_day + 1) % HOURS, (hour_of_day + HOURS - 1) % HOURS];
        let beside = beside.map(|hour| self.usual_hour(hour, dispersion).times(BESIDE));
        let hour = beside.into_iter().fold(hour, Cell::and);
        let drawn = hour.and(Cell { sum: usual * STRENGTH, weight: STRENGTH });
        Some(self.scale.bounded(drawn.level()))
    }

    /// The same hour of all days but those that had an incident in it.
    fn usual_hour(&self, hour_of_day: usize, dispersion: f64) -> Cell {
        let days = self.days.iter().filter_map(|day| day.get(hour_of_day));
        let mut cells: Vec<Cell> = days.filter(|cell| cell.weight > 0.0).copied().collect();
        if cells.len() >= QUORUM {
            cells.sort_by(|one, other| one.level().total_cmp(&other.level()));
            let median = cells.get(cells.len() / 2).map_or(0.0, |cell| cell.level());
            let median = self.scale.bounded(median);
            cells.retain(|cell| !self.is_incident(*cell, median, dispersion));
        }
        cells.into_iter().fold(Cell::default(), Cell::and)
    }

    fn is_incident(&self, cell: Cell, median: f64, dispersion: f64) -> bool {
        let times = self.scale.value(cell.level()) / self.scale.value(median);
        let deviation = self.scale.deviation(median) * dispersion / cell.weight.sqrt();
        // Days differ by more than chance, so that one is only left out when it is plainly another thing.
        !(0.5..=2.0).contains(&times) && (cell.level() - median).abs() > INCIDENT * deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: u64, hour: u64) -> Minute {
        Minute((day * 24 + hour) * 60)
    }

    fn share(k: f64, n: f64) -> Reading {
        Reading { sum: k, of: n }
    }

    #[test]
    fn each_hour_has_its_own_level() {
        let mut seasons = Seasons::new(Scale::Share, 7);
        for day in 0..7 {
            seasons.add(at(day, 3), share(500.0, 10_000.0));
            seasons.add(at(day, 15), share(100.0, 10_000.0));
        }
        assert!((seasons.level(3, 1.0).unwrap() - 0.05).abs() < 0.001);
        assert!((seasons.level(15, 1.0).unwrap() - 0.01).abs() < 0.001);
        let unseen = seasons.level(20, 1.0).unwrap();
        assert!((unseen - 0.03).abs() < 0.001, "an hour never seen is as all hours: {unseen}");
    }

    #[test]
    fn before_anything_is_known_a_share_is_as_the_prior_has_it() {
        assert_eq!(Seasons::new(Scale::Share, 7).level(0, 1.0), Some(0.015));
        assert_eq!(Seasons::new(Scale::Ratio, 7).level(0, 1.0), None);
    }

    #[test]
    fn an_incident_that_nobody_noticed_is_left_out() {
        let mut seasons = Seasons::new(Scale::Share, 7);
        for day in 0..7 {
            let failed = if day == 4 { 4000.0 } else { 100.0 };
            seasons.add(at(day, 3), share(failed, 10_000.0));
        }
        assert!(seasons.level(3, 1.0).unwrap() < 0.011);
    }

    #[test]
    fn days_that_are_over_are_forgotten() {
        let mut seasons = Seasons::new(Scale::Share, 7);
        seasons.add(at(100, 3), share(5000.0, 10_000.0));
        seasons.add(at(107, 3), share(100.0, 10_000.0));
        assert_eq!(seasons.weight(), 10_000.0);
        seasons.add(at(1_000_000, 3), share(1.0, 1.0));
        assert_eq!(seasons.weight(), 1.0);
    }
}
