//! All that is remembered of one model, or of one vendor.

use crate::{
    alert::{Alert, Subject, Timing},
    baseline::Baseline,
    measure::Measure,
    minute::Minute,
    post::{Post, Seen},
    rule::Rule,
    tally::Tally,
};

/// The histories of a model's measures, and the rules posted at it.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    gauges: Vec<Gauge>,
    /// The last minute with calls.
    pub(crate) seen: Minute,
}

/// One measure: its history, and the rules that watch it.
#[derive(Debug, Clone)]
struct Gauge {
    measure: Measure,
    baseline: Baseline,
    posts: Vec<Post>,
}

impl Track {
    /// With these rules, and histories of so many days.
    pub(crate) fn new<'r>(rules: impl Iterator<Item = &'r Rule> + Clone, days: usize) -> Self {
        let gauges = Measure::ALL.into_iter().map(|measure| Gauge {
            measure,
            baseline: Baseline::new(measure.scale(), days),
            posts: rules
                .clone()
                .filter(|rule| rule.measure == measure)
                .map(|rule| Post::new(*rule))
                .collect(),
        });
        Self { gauges: gauges.filter(|gauge| !gauge.posts.is_empty()).collect(), seen: Minute(0) }
    }

    /// Looks at a whole minute and learns from it.
    pub(crate) fn minute(
        &mut self,
        subject: &Subject,
        minute: Minute,
        tally: Option<&Tally>,
        timing: Timing,
        changed: &mut Vec<Alert>,
    ) {
        if tally.is_some() {
            self.seen = minute;
        }
        for gauge in &mut self.gauges {
            gauge.baseline.turn(minute);
            gauge.look(subject, minute, tally, timing, true, changed);
            gauge.learn(minute, tally, changed);
        }
    }

    /// Looks at a minute that still runs.
    pub(crate) fn glance(
        &mut self,
        subject: &Subject,
        minute: Minute,
        tally: &Tally,
        timing: Timing,
        changed: &mut Vec<Alert>,
    ) {
        self.seen = minute;
        for gauge in &mut self.gauges {
            gauge.look(subject, minute, Some(tally), timing, false, changed);
        }
    }

    /// Its alerts that are not closed.
    pub(crate) fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.gauges.iter().flat_map(|gauge| &gauge.posts).filter_map(Post::alert)
    }
}

impl Gauge {
    fn look(
        &mut self,
        subject: &Subject,
        minute: Minute,
        tally: Option<&Tally>,
        timing: Timing,
        whole: bool,
        changed: &mut Vec<Alert>,
    ) {
        let reading = tally.and_then(|tally| self.measure.read(tally));
        let expected = self.baseline.expect();
        let seen = Seen { minute, reading, expected, whole };
        changed.extend(self.posts.iter_mut().filter_map(|post| post.look(subject, seen, timing)));
    }

    fn learn(&mut self, minute: Minute, tally: Option<&Tally>, changed: &mut Vec<Alert>) {
        if self.posts.iter().any(|post| post.has_settled(minute)) {
            self.baseline.accept(minute);
            let settled = self.posts.iter_mut().filter(|post| post.has_settled(minute));
            changed.extend(settled.filter_map(|post| post.settle(minute)));
        }
        if let Some(reading) = tally.and_then(|tally| self.measure.read(tally)) {
            let incident = self.posts.iter().any(|post| post.alert().is_some());
            self.baseline.learn(minute, reading, incident);
        }
    }
}
