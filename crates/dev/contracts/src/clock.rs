//! A clock that tests set.

use signalbox_kit::Clock;
use std::{
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

/// A clock that stands still until it is set.
#[derive(Debug)]
pub struct SetClock(Mutex<SystemTime>);

impl SetClock {
    /// A clock that shows this time.
    pub fn at(now: SystemTime) -> Self {
        Self(Mutex::new(now))
    }

    /// Shows another time from now on.
    pub fn set(&self, now: SystemTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for SetClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
