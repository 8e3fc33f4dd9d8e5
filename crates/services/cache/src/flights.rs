//! Identical requests under way in this process: one leads, the others wait in a line.

mod waiting;

pub(crate) use waiting::{News, Waiting};

use signalbox_api::v1::CachedAnswer;
use signalbox_ports::cache::Digest;
use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// What requests are identical in: tenant and exact key.
pub(crate) type FlightKey = (Digest, Digest);

/// So many flights are worth looking for those that nobody ended.
const MANY: usize = 1_024;
/// Who leads where it is another process.
const ELSEWHERE: &str = "";

/// An answer that came while others waited for it.
#[derive(Debug)]
pub(crate) struct Landed {
    pub(crate) entry_id: String,
    pub(crate) answer: CachedAnswer,
}

/// All flights. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Flights {
    open: Arc<Mutex<HashMap<FlightKey, Flight>>>,
    most_waiters: usize,
    ttl: Duration,
}

#[derive(Debug)]
struct Flight {
    /// Who leads.
    leader: String,
    /// Until when, unless it is renewed.
    until: Instant,
    line: VecDeque<InLine>,
    /// Somebody looks into the store for those in line.
    is_watched: bool,
}

#[derive(Debug)]
struct InLine {
    owner: String,
    news: oneshot::Sender<News>,
}

/// How a request joined.
#[derive(Debug)]
pub(crate) enum Joined {
    /// It leads.
    Leads,
    /// Another leads, and it waits for that. `unwatched`: nobody looks into the store yet.
    Waits { waiting: Waiting, unwatched: bool },
    /// Another leads, and it does not wait.
    Alone,
}

impl Flights {
    pub(crate) fn new(most_waiters: usize, ttl: Duration) -> Self {
        Self { open: Arc::default(), most_waiters, ttl }
    }

    /// Takes the lead, or a place in the line if it `waits` and there is room.
    pub(crate) fn join(&self, key: FlightKey, owner: &str, waits: bool) -> Joined {
        let mut open = self.lock();
        if open.len() >= MANY && open.len().is_power_of_two() {
            open.retain(|_, flight| !flight.is_forsaken());
        }
        match open.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(Flight::new(owner, self.ttl));
                Joined::Leads
            }
            Entry::Occupied(mut occupied) => {
                let flight = occupied.get_mut();
                if flight.is_forsaken() {
                    *flight = Flight::new(owner, self.ttl);
                    return Joined::Leads;
                }
                self.line_up(flight, key, owner, waits)
            }
        }
    }

    /// Another process turned out to lead: who thought to lead here waits with the rest.
    pub(crate) fn follow(&self, key: FlightKey, owner: &str, waits: bool) -> Joined {
        let mut open = self.lock();
        let flight = open.entry(key).or_insert_with(|| Flight::new(ELSEWHERE, self.ttl));
        flight.lead(ELSEWHERE, self.ttl);
        let joined = self.line_up(flight, key, owner, waits);
        if flight.line.is_empty() {
            open.remove(&key);
        }
        joined
    }

    fn line_up(&self, flight: &mut Flight, key: FlightKey, owner: &str, waits: bool) -> Joined {
        if flight.line.len() >= self.most_waiters {
            flight.line.retain(|waiter| !waiter.news.is_closed());
        }
        if !waits || flight.line.len() >= self.most_waiters {
            return Joined::Alone;
        }
        let (news, heard) = oneshot::channel();
        flight.line.push_back(InLine { owner: owner.to_owned(), news });
        let unwatched = !std::mem::replace(&mut flight.is_watched, true);
        let waiting = Waiting::new(heard, self.clone(), key, owner.to_owned());
        Joined::Waits { waiting, unwatched }
    }

    /// The answer is there, for all that wait.
    pub(crate) fn land(&self, key: FlightKey, landed: &Arc<Landed>) {
        self.end(key, || News::Landed(landed.clone()));
    }

    /// There will be no answer to share: all that wait go on.
    pub(crate) fn abandon(&self, key: FlightKey) {
        self.end(key, || News::Alone);
    }

    fn end(&self, key: FlightKey, news: impl Fn() -> News) {
        let flight = self.lock().remove(&key);
        for waiter in flight.into_iter().flat_map(|flight| flight.line) {
            // Who went away meanwhile need not hear of it.
            let _ = waiter.news.send(news());
        }
    }

    /// The leader gives up: the first in line that still waits takes over.
    pub(crate) fn release(&self, key: FlightKey, owner: &str) {
        let mut open = self.lock();
        if let Some(flight) = open.get_mut(&key)
            && flight.leader == owner
        {
            flight.promote(self.ttl, false);
            if flight.leader == ELSEWHERE {
                open.remove(&key);
            }
        }
    }

    /// The leader goes on. Whether it still is the leader here.
    pub(crate) fn renew(&self, key: FlightKey, owner: &str) -> bool {
        let mut open = self.lock();
        let Some(flight) = open.get_mut(&key).filter(|flight| flight.leader == owner) else { return false };
        flight.until = Instant::now() + self.ttl;
        true
    }

    /// This process no longer leads there.
    pub(crate) fn lose(&self, key: FlightKey, owner: &str) {
        let mut open = self.lock();
        if let Some(flight) = open.get_mut(&key).filter(|flight| flight.leader == owner) {
            flight.leader = ELSEWHERE.to_owned();
        }
    }

    /// Who is first in line, for whom the store is asked; `None` where nobody waits any more, and nobody need look.
    pub(crate) fn first_in_line(&self, key: FlightKey) -> Option<String> {
        let mut open = self.lock();
        let flight = open.get_mut(&key)?;
        flight.line.retain(|waiter| !waiter.news.is_closed());
        if let Some(first) = flight.line.front() {
            return Some(first.owner.clone());
        }
        flight.is_watched = false;
        if flight.leader == ELSEWHERE || flight.until <= Instant::now() {
            open.remove(&key);
        }
        None
    }

    /// The first in line has the lead in the store. Whether it is still there to take it.
    pub(crate) fn promote(&self, key: FlightKey, owner: &str) -> bool {
        let mut open = self.lock();
        let Some(flight) = open.get_mut(&key) else { return false };
        if flight.line.front().is_none_or(|first| first.owner != owner) {
            return false;
        }
        let Some(first) = flight.line.pop_front() else { return false };
        if first.news.send(News::Lead { in_store: true }).is_err() {
            return false;
        }
        flight.lead(owner, self.ttl);
        true
    }

    /// The store does not say who leads: where the lead is over by this process's own clock, the first in line takes over.
    /// `is_away`: it has said nothing for some time, so that nobody would hear of an answer that another process was given:
    /// all go on.
    pub(crate) fn promote_overdue(&self, key: FlightKey, is_away: bool) {
        if is_away {
            return self.abandon(key);
        }
        if let Some(flight) = self.lock().get_mut(&key)
            && flight.until <= Instant::now()
        {
            flight.promote(self.ttl, false);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FlightKey, Flight>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    fn new(leader: &str, ttl: Duration) -> Self {
        Self {
            leader: leader.to_owned(),
            until: Instant::now() + ttl,
            line: VecDeque::new(),
            is_watched: false,
        }
    }

    fn lead(&mut self, owner: &str, ttl: Duration) {
        owner.clone_into(&mut self.leader);
        self.until = Instant::now() + ttl;
    }

    /// Nobody leads any more, and nobody waits.
    fn is_forsaken(&self) -> bool {
        self.until <= Instant::now() && !self.is_watched
    }

    /// Makes the first in line that still waits the leader; without one, nobody leads here.
    fn promote(&mut self, ttl: Duration, in_store: bool) {
        ELSEWHERE.clone_into(&mut self.leader);
        while let Some(first) = self.line.pop_front() {
            if first.news.send(News::Lead { in_store }).is_ok() {
                self.lead(&first.owner, ttl);
                return;
            }
        }
    }
}
