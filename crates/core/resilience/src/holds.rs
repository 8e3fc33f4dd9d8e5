//! Who asked not to be called for a while.

use signalbox_types::ModelRef;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The longest hold: a vendor that names a longer one (a daily quota, say) is asked again after this.
pub(crate) const LONGEST: Duration = Duration::from_secs(300);

/// Models held back by their vendors' `Retry-After` and reset headers.
#[derive(Debug, Clone, Default)]
pub struct Holds(HashMap<ModelRef, Instant>);

impl Holds {
    /// Holds a model back. A shorter hold never shortens a longer one.
    pub fn hold(&mut self, model: ModelRef, wait: Duration, now: Instant) {
        self.0.retain(|_, until| *until > now);
        let until = now + wait.min(LONGEST);
        let held = self.0.entry(model).or_insert(until);
        *held = (*held).max(until);
    }

    /// How much longer a model is held back.
    pub fn left(&self, model: &ModelRef, now: Instant) -> Option<Duration> {
        let left = self.0.get(model)?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Whether nobody is held back (then nobody needs to be looked up).
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_hold_extends_the_first_and_never_shortens_it() {
        let (model, now) = (ModelRef::new("a", "m"), Instant::now());
        let mut holds = Holds::default();
        holds.hold(model.clone(), Duration::from_secs(10), now);
        holds.hold(model.clone(), Duration::from_secs(2), now);
        assert_eq!(holds.left(&model, now), Some(Duration::from_secs(10)));
        holds.hold(model.clone(), Duration::from_secs(20), now);
        assert_eq!(holds.left(&model, now + Duration::from_secs(15)), Some(Duration::from_secs(5)));
        assert_eq!(holds.left(&model, now + Duration::from_secs(20)), None);
    }

    #[test]
    fn no_hold_lasts_longer_than_five_minutes() {
        let (model, now) = (ModelRef::new("a", "m"), Instant::now());
        let mut holds = Holds::default();
        holds.hold(model.clone(), Duration::MAX, now);
        assert_eq!(holds.left(&model, now), Some(LONGEST));
    }
}
