//! What can never be stored is set aside. Where that cannot be done, either, it is left on the bus, which is told loudly:
//! it must hold up nothing that is good, and nothing may be lost in silence.

use super::{Ingester, hold::Hold};
use crate::metrics;
use signalbox_ports::Letter;
use std::collections::BTreeSet;

/// So many failures in a batch, and the rest of its letters is not tried.
const FAILURES: usize = 3;

/// Messages that could not be set aside when they last came.
#[derive(Debug, Default)]
pub(super) struct Aside {
    left: BTreeSet<u64>,
    told: bool,
}

impl Aside {
    fn done(&mut self, sequence: u64) {
        self.left.remove(&sequence);
    }

    fn left(&mut self, sequences: &[u64], why: &str) {
        self.left.extend(sequences);
        if !sequences.is_empty() && !std::mem::replace(&mut self.told, true) {
            tracing::error!(
                why,
                "dead letters cannot be kept: accounts that cannot be stored stay on the bus and come again; replay or \
                 discard letters"
            );
        }
    }

    fn show(&mut self) {
        metrics::letters_left(self.left.len());
        if self.left.is_empty() && std::mem::replace(&mut self.told, false) {
            tracing::info!("dead letters can be kept again");
        }
    }
}

impl Ingester {
    /// Not before it is known to be set aside may a message be forgotten.
    pub(super) async fn set_aside(&mut self, letters: Vec<Letter>, aside: &mut Aside, hold: &mut Hold) {
        tell(&letters);
        let (mut left, mut failures, mut reason) = (Vec::new(), 0, String::new());
        for letter in letters {
            let (sequence, why) = (letter.sequence, letter.reason);
            if failures < FAILURES {
                match self.letters.set_aside(letter).await {
                    Ok(()) => {
                        metrics::dead_letter(why);
                        aside.done(sequence);
                        self.acknowledge(&[sequence], hold).await;
                        continue;
                    }
                    Err(away) => (failures, reason) = (failures + 1, away.0),
                }
            }
            left.push(sequence);
        }
        hold.done(&left);
        self.bus.leave(&left).await;
        aside.left(&left, &reason);
        aside.show();
    }
}

/// Says what is set aside: the first of a batch, and how many there are.
fn tell(letters: &[Letter]) {
    if let Some(Letter { sequence, reason, detail, event_id, .. }) = letters.first() {
        let (letters, reason) = (letters.len(), reason.as_str_name());
        tracing::warn!(
            letters,
            sequence,
            reason,
            detail,
            event_id,
            "accounts cannot be stored and are set aside"
        );
    }
}
