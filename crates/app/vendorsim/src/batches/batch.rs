//! One batch: what it holds, how far it is, and what is to become of it.

use super::item::{Item, ItemEnd};
use crate::call::Call;
use crate::vendor::Vendor;
use http::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// How many items are answered before others get their turn.
const STEP: usize = 32;

/// What is to become of a batch, as a fault at its hand-over has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// With so many items done it stays in progress until it is let go. At a cancellation: it stays being cancelled.
    pub(crate) hold: Option<usize>,
    /// It fails validation.
    pub(crate) refuse: bool,
    /// It expires with so many items done.
    pub(crate) expire: Option<usize>,
    /// How long it takes, where not as usual.
    pub(crate) time: Option<Duration>,
}

/// Why a batch does not pass validation.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The line at fault, from 1.
    pub(crate) line: Option<usize>,
    pub(crate) param: Option<&'static str>,
}

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Running,
    Cancelling,
    Ended(End),
}

/// How a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    Cancelled,
    Expired,
    Refused,
}

/// What a vendor remembers of a batch besides its items.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// Display name.
    pub(crate) name: String,
    pub(crate) metadata: Value,
    /// The model; empty where each item has its own.
    pub(crate) model: String,
    /// Where all its requests go; empty where each item has its own.
    pub(crate) endpoint: String,
    pub(crate) input_file: Option<String>,
    pub(crate) output_file: Option<String>,
    pub(crate) error_file: Option<String>,
    /// Tokens of all answers, in the vendor's words.
    pub(crate) usage: Value,
}

/// A batch that is about to be taken.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) vendor: Vendor,
    /// How its id starts.
    pub(crate) prefix: &'static str,
    pub(crate) about: About,
    pub(crate) items: Vec<Item>,
    /// Why it will not pass validation.
    pub(crate) troubles: Vec<Trouble>,
    pub(crate) plan: Plan,
}

/// Items by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) total: usize,
    pub(crate) pending: usize,
    pub(crate) succeeded: usize,
    pub(crate) errored: usize,
    pub(crate) cancelled: usize,
    pub(crate) expired: usize,
}

/// A batch that was taken.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) id: String,
    pub(crate) vendor: Vendor,
    pub(crate) about: About,
    pub(crate) items: Vec<Item>,
    pub(crate) troubles: Vec<Trouble>,
    pub(crate) phase: Phase,
    pub(crate) created: SystemTime,
    /// When its cancellation was asked for.
    pub(crate) cancelled: Option<SystemTime>,
    pub(crate) ended: Option<SystemTime>,
    /// Headers and query of the call that handed it over: its items come with them.
    pub(crate) headers: HeaderMap,
    pub(crate) query: String,
    /// Nobody has asked for it yet.
    fresh: bool,
    plan: Plan,
    /// When it is through, unless it is held.
    due: Instant,
    /// All items before this one have ended by themselves.
    next: usize,
}

impl Batch {
    /// A batch on its first day.
    pub(crate) fn new(id: String, draft: Draft, call: &Call<'_>, usual: Duration) -> Self {
        let mut troubles = draft.troubles;
        if draft.plan.refuse && troubles.is_empty() {
            let message = "The batch was refused, as the simulator was told.".to_owned();
            troubles.push(Trouble { code: "invalid_request", message, line: None, param: None });
        }
        let objections = draft.items.iter().enumerate().filter_map(|(n, item)| Some((n, item.objection()?)));
        troubles.extend(objections.map(|(n, message)| {
            let message = message.to_owned();
            Trouble { code: "invalid_request", message, line: Some(n + 1), param: Some("body") }
        }));
        Self {
            id,
            vendor: draft.vendor,
            about: draft.about,
            items: draft.items,
            troubles,
            phase: Phase::Running,
            created: call.now,
            cancelled: None,
            ended: None,
            headers: call.headers.clone(),
            query: call.query.to_owned(),
            fresh: true,
            plan: draft.plan,
            due: Instant::now() + draft.plan.time.unwrap_or(usual),
            next: 0,
        }
    }

    /// Goes on by a few items. Whether there is more to do at once.
    pub(crate) fn step(&mut self, now: SystemTime, answer: impl Fn(&Self, &Item) -> ItemEnd) -> bool {
        self.fresh = false;
        match self.phase {
            Phase::Ended(_) => false,
            Phase::Cancelling => {
                if self.plan.hold.is_none() {
                    self.close(&ItemEnd::Cancelled, End::Cancelled, now);
                }
                false
            }
            Phase::Running if !self.troubles.is_empty() => {
                if self.is_due() {
                    self.close(&ItemEnd::Cancelled, End::Refused, now);
                }
                false
            }
            Phase::Running => self.work(now, answer),
        }
    }

    fn work(&mut self, now: SystemTime, answer: impl Fn(&Self, &Item) -> ItemEnd) -> bool {
        let target = match self.plan.hold {
            Some(held) => held,
            None if self.is_due() => self.plan.expire.unwrap_or(self.items.len()),
            None => self.next,
        };
        let target = target.min(self.items.len());
        for _ in 0..STEP.min(target.saturating_sub(self.next)) {
            let end = self.items.get(self.next).map(|item| answer(self, item));
            if let Some(item) = self.items.get_mut(self.next) {
                item.end = end;
            }
            self.next += 1;
        }
        // An empty batch waits for its first item.
        if self.next >= target && self.is_due() && !self.items.is_empty() {
            let expired = self.was_cut() || self.counts().expired > 0;
            self.close(&ItemEnd::Expired, if expired { End::Expired } else { End::Done }, now);
        }
        self.next < target
    }

    fn is_due(&self) -> bool {
        self.plan.hold.is_none() && Instant::now() >= self.due
    }

    /// Ends the batch; what has not ended by now ends with it.
    fn close(&mut self, rest: &ItemEnd, end: End, now: SystemTime) {
        for item in self.items.iter_mut().filter(|item| item.end.is_none()) {
            item.end = Some(rest.clone());
        }
        self.phase = Phase::Ended(end);
        self.ended = Some(now);
    }

    /// Asks to stop it: what has been done stays done.
    pub(crate) fn cancel(&mut self, now: SystemTime, hold: Option<usize>) {
        if self.phase == Phase::Running {
            self.phase = Phase::Cancelling;
            self.cancelled = Some(now);
            self.plan.hold = hold;
        }
    }

    /// Takes more items; one that was through is under way again.
    pub(crate) fn extend(&mut self, items: Vec<Item>) {
        self.items.extend(items);
        self.phase = Phase::Running;
        self.ended = None;
    }

    /// Lets a batch that is held go on.
    pub(crate) fn release(&mut self) {
        self.plan.hold = None;
    }

    /// Whether it stays as it is until it is let go.
    pub(crate) fn is_held(&self) -> bool {
        self.plan.hold.is_some() && self.end().is_none()
    }

    /// Whether the vendor is still looking through it.
    pub(crate) fn is_validating(&self) -> bool {
        self.phase == Phase::Running && (self.fresh || !self.troubles.is_empty())
    }

    /// Whether it ended before all its items were looked at.
    pub(crate) fn was_cut(&self) -> bool {
        self.next < self.items.len()
    }

    /// How it ended, once it has.
    pub(crate) fn end(&self) -> Option<End> {
        match self.phase {
            Phase::Ended(end) => Some(end),
            Phase::Running | Phase::Cancelling => None,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts { total: self.items.len(), ..Counts::default() };
        for item in &self.items {
            let count = match &item.end {
                None => &mut counts.pending,
                Some(ItemEnd::Answered(answered)) if answered.succeeded() => &mut counts.succeeded,
                Some(ItemEnd::Answered(_)) => &mut counts.errored,
                Some(ItemEnd::Cancelled) => &mut counts.cancelled,
                Some(ItemEnd::Expired) => &mut counts.expired,
            };
            *count += 1;
        }
        counts
    }

    /// The items as they come back: in an order of their own, the same every time.
    pub(crate) fn shuffled(&self) -> Vec<&Item> {
        let mut items: Vec<&Item> = self.items.iter().collect();
        items.sort_by_cached_key(|item| crate::seed::hash(format!("{}/{}", self.id, item.id).as_bytes()));
        items
    }

    /// Bytes that it takes to keep.
    pub(crate) fn weight(&self) -> usize {
        let of = |item: &Item| match &item.end {
            Some(ItemEnd::Answered(answered)) => item.body.len() + answered.body.len(),
            _ => item.body.len(),
        };
        self.items.iter().map(of).sum()
    }
}
