//! Serve a near answer, or not.

use super::{Pool, Record};
use crate::Semantic;
use std::{fmt, time::SystemTime};

/// Share of near answers that could be served and are not, so that they can be compared with a model's.
pub const AUDITED_SHARE: f64 = 0.02;

/// A near answer that passed the guards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// How near its request is, 0 to 1.
    pub similarity: f32,
    /// Least similarity, by policy and client.
    pub floor: f32,
    /// How the task is matched by meaning.
    pub mode: Semantic,
    /// Share of answers served that must be right.
    pub precision_target: f64,
    /// A random number from 0 up to 1.
    pub chance: f64,
}

/// What to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Serve it.
    Serve,
    /// Do not, though it could be: compare it with the model's answer.
    Audit,
    /// Do not. Compare it with the model's answer all the same, if the refusal [is worth it](Refusal::is_observed).
    Refuse(Refusal),
}

/// Why a near answer is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Requests are not matched by meaning.
    Off,
    /// It is not near enough.
    Floor,
    /// The task is in shadow mode.
    Shadow,
    /// It is not shown that such answers are right.
    Evidence,
    /// This one was wrong before.
    Entry,
}

impl Refusal {
    /// The word in metrics and in an answer's `route`. It does not change.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Floor => "floor",
            Self::Shadow => "shadow",
            Self::Evidence => "evidence",
            Self::Entry => "entry",
        }
    }

    /// Whether the answer is to be compared with the model's, as evidence of what could be served. What lies below the
    /// floor could not.
    pub fn is_observed(self) -> bool {
        matches!(self, Self::Shadow | Self::Evidence | Self::Entry)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether to serve a near answer.
pub fn decide(near: &Candidate, pool: &Pool, record: &Record, now: SystemTime) -> Decision {
    // What is not a number is not near.
    let is_near = near.similarity >= near.floor;
    let refusal = match near.mode {
        Semantic::Off => Some(Refusal::Off),
        _ if !is_near => Some(Refusal::Floor),
        Semantic::Shadow => Some(Refusal::Shadow),
        Semantic::On if !record.allows(near.precision_target) => Some(Refusal::Entry),
        Semantic::On if !is_shown(near, pool, now) => Some(Refusal::Evidence),
        Semantic::On => None,
    };
    match refusal {
        Some(refusal) => Decision::Refuse(refusal),
        None if near.chance < AUDITED_SHARE => Decision::Audit,
        None => Decision::Serve,
    }
}

/// Whether it is shown that answers this near are right often enough.
fn is_shown(near: &Candidate, pool: &Pool, now: SystemTime) -> bool {
    let from = pool.served_from(near.precision_target, near.floor, now);
    from.is_some_and(|from| near.similarity >= from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;
    use std::time::UNIX_EPOCH;

    const NEAR: Candidate =
        Candidate { similarity: 0.97, floor: 0.92, mode: Semantic::On, precision_target: 0.99, chance: 0.5 };

    fn pool(right: u32) -> Pool {
        let mut pool = Pool::new(Digest::default(), UNIX_EPOCH);
        (0..right).for_each(|_| pool.observe(0.97, true, UNIX_EPOCH));
        pool
    }

    fn decision(near: Candidate, right: u32) -> Decision {
        decide(&near, &pool(right), &Record::default(), UNIX_EPOCH)
    }

    #[test]
    fn an_answer_is_served_once_it_is_shown_that_such_answers_are_right() {
        assert_eq!(decision(NEAR, 0), Decision::Refuse(Refusal::Evidence));
        assert_eq!(decision(NEAR, 300), Decision::Refuse(Refusal::Evidence));
        assert_eq!(decision(NEAR, 1_000), Decision::Serve);
    }

    #[test]
    fn one_in_fifty_is_compared_instead_of_served() {
        let audited = (0..1_000).filter(|n| {
            decision(Candidate { chance: f64::from(*n) / 1_000.0, ..NEAR }, 1_000) == Decision::Audit
        });
        assert_eq!(audited.count(), 20);
    }

    #[test]
    fn evidence_does_not_overrule_policy_client_or_the_entry_itself() {
        let refused = |near| decision(near, 5_000);
        assert_eq!(refused(Candidate { floor: 0.98, ..NEAR }), Decision::Refuse(Refusal::Floor));
        assert_eq!(refused(Candidate { similarity: f32::NAN, ..NEAR }), Decision::Refuse(Refusal::Floor));
        assert_eq!(refused(Candidate { mode: Semantic::Shadow, ..NEAR }), Decision::Refuse(Refusal::Shadow));
        assert_eq!(refused(Candidate { mode: Semantic::Off, ..NEAR }), Decision::Refuse(Refusal::Off));
        let mut wrong = Record::default();
        wrong.observe(false);
        assert_eq!(decide(&NEAR, &pool(5_000), &wrong, UNIX_EPOCH), Decision::Refuse(Refusal::Entry));
    }

    #[test]
    fn only_what_could_be_served_is_evidence() {
        let observed = [Refusal::Shadow, Refusal::Evidence, Refusal::Entry];
        assert!(observed.into_iter().all(Refusal::is_observed));
        assert!(![Refusal::Off, Refusal::Floor].into_iter().any(Refusal::is_observed));
    }
}
