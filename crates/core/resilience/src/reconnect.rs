//! How often a process of our own that went away is asked again, and for how long.

use std::time::{Duration, Instant};

/// The first wait after the one without any; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(25);
/// The longest wait between two tries: what a request waits in vain, at most, once the process is back.
const LONGEST_WAIT: Duration = Duration::from_millis(250);
/// A request that was under way in so many processes when they died is held to be what kills them.
const MOST_UNDER_WAY: u32 = 3;

/// One request's patience with a process that it needs.
///
/// Waits carry no jitter: they are counted from each request's own loss, and are short against a connection's cost.
#[derive(Debug, Clone)]
pub struct Reconnect {
    patience: Duration,
    since: Option<Instant>,
    wait: Duration,
    under_way: u32,
}

impl Reconnect {
    /// For a request that waits so long in all.
    pub fn new(patience: Duration) -> Self {
        Self { patience, since: None, wait: Duration::ZERO, under_way: 0 }
    }

    /// The process could not be reached, or was lost while the call was `under_way` there. How long to wait before the
    /// next try, which is at once the first time, as another replica may serve. `None`: the loss stands, since patience
    /// is over or the deadline (`time_left`) would be.
    pub fn after_loss(
        &mut self,
        under_way: bool,
        now: Instant,
        time_left: Option<Duration>,
    ) -> Option<Duration> {
        self.under_way += u32::from(under_way);
        let since = *self.since.get_or_insert(now);
        let left = self.patience.saturating_sub(now.saturating_duration_since(since));
        let wait = self.wait;
        self.wait = (2 * wait).clamp(FIRST_WAIT, LONGEST_WAIT);
        let in_time = wait < left && time_left.is_none_or(|left| wait < left);
        (in_time && self.under_way < MOST_UNDER_WAY).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    /// The waits of a request whose process never comes back.
    fn waits(time_left: impl Fn(Duration) -> Option<Duration>) -> Vec<u128> {
        let start = Instant::now();
        let (mut now, mut reconnect, mut waits) = (start, Reconnect::new(PATIENCE), Vec::new());
        while let Some(wait) = reconnect.after_loss(false, now, time_left(now - start)) {
            waits.push(wait.as_millis());
            now += wait;
        }
        waits
    }

    #[test]
    fn another_replica_is_asked_at_once_and_then_ever_more_seldom_until_patience_is_over() {
        assert_eq!(waits(|_| None), [0, 25, 50, 100, 200, 250, 250]);
    }

    #[test]
    fn no_wait_begins_that_the_deadline_would_cut() {
        assert_eq!(waits(|passed| Duration::from_millis(300).checked_sub(passed)), [0, 25, 50, 100]);
    }

    #[test]
    fn a_request_that_seems_to_kill_whoever_takes_it_is_given_up() {
        let (now, mut reconnect) = (Instant::now(), Reconnect::new(PATIENCE));
        assert!(reconnect.after_loss(true, now, None).is_some());
        assert!(reconnect.after_loss(false, now, None).is_some());
        assert!(reconnect.after_loss(true, now, None).is_some());
        assert_eq!(reconnect.after_loss(true, now, None), None);
    }

    #[test]
    fn without_patience_there_is_no_second_try() {
        assert_eq!(Reconnect::new(Duration::ZERO).after_loss(false, Instant::now(), None), None);
    }
}
