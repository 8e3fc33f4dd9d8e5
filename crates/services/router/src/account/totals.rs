//! Sums over attempts.

use super::Account;
use signalbox_ports::usage_facts::total;

impl Account {
    /// Brings the sums up to date.
    pub(super) fn total(&mut self) {
        // Without a call it is as the answer is that was given.
        if !self.event.attempts.is_empty() {
            self.event.simulated = self.event.attempts.iter().all(|attempt| attempt.simulated);
        }
        let (usage, cost) = total(&self.event.attempts);
        (self.event.usage, self.event.cost) = (Some(usage), Some(cost));
    }
}
