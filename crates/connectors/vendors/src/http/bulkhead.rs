//! Keeps one vendor from taking another's capacity, and feels for how much of its own it has.

use super::{config::VendorConfig, limits::Stage};
use signalbox_resilience::AimdLimit;
use signalbox_types::ErrorReason;
use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

/// Places for calls under way at one vendor entry, and a bounded queue for the next.
///
/// There are `max_concurrency` places at first: an operator who knows the vendor's limit is served at full speed from
/// the first call on, and who set it too high learns so within a few round trips. Overload takes places away, down to
/// two; calls that succeed while nearly all are taken bring them back. A place that is taken is given back before it
/// goes, so that no call is dropped.
///
/// One for the whole process, shared by the [`HttpVendor`](super::HttpVendor)s of every runtime.
#[derive(Debug)]
pub struct Bulkhead {
    places: Arc<Semaphore>,
    room: Mutex<Room>,
    waiting: AtomicUsize,
    max_concurrency: usize,
    max_queue: usize,
}

/// How many places there are, and how many there should be.
#[derive(Debug)]
struct Room {
    limit: AimdLimit,
    /// Those of the semaphore, free or taken: more than the limit while calls are under way that began before it fell.
    places: usize,
}

impl Room {
    fn limit(&self) -> usize {
        self.limit.limit() as usize
    }
}

/// A place; given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    bulkhead: Arc<Bulkhead>,
    /// There until dropped.
    permit: Option<OwnedSemaphorePermit>,
    since: Instant,
}

/// How full a bulkhead is. Reads as in "6 calls are under way (the limit now; max_concurrency is 8)".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full {
    limit: usize,
    max_concurrency: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, max_concurrency } = self;
        if limit == max_concurrency {
            return write!(f, "{limit} calls are under way (max_concurrency)");
        }
        write!(f, "{limit} calls are under way (the limit now; max_concurrency is {max_concurrency})")
    }
}

/// Why there was no place. Reads on from "vendor `x` is busy: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    #[error("{full} and {max_queue} wait (max_queue)")]
    QueueFull { full: Full, max_queue: usize },
    #[error("{0}, and none ended while this one could wait")]
    WaitedTooLong(Full),
}

impl Bulkhead {
    /// Places for at most `max_concurrency` calls, and for `max_queue` more to wait.
    pub fn new(max_concurrency: usize, max_queue: usize) -> Self {
        let max = u32::try_from(max_concurrency).unwrap_or(u32::MAX);
        let limit = AimdLimit::new(max, max);
        let places = limit.limit() as usize;
        Self {
            places: Arc::new(Semaphore::new(places)),
            room: Mutex::new(Room { limit, places }),
            waiting: AtomicUsize::new(0),
            max_concurrency: places,
            max_queue,
        }
    }

    /// The bulkhead that a vendor entry asks for, to be shared by all its clients.
    pub fn for_vendor(config: &VendorConfig) -> Arc<Self> {
        Arc::new(Self::new(config.max_concurrency, config.max_queue))
    }

    /// Calls under way.
    pub fn in_flight(&self) -> usize {
        self.taken(&self.room())
    }

    /// Calls waiting for a place.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Calls that may be under way at once now.
    pub fn limit(&self) -> usize {
        self.room().limit()
    }

    /// Takes a place: at once where one is free, else first come, first served.
    pub(super) async fn enter(self: &Arc<Self>, deadline: Instant) -> Result<Place, NoPlace> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(self.place(permit));
        }
        let _waiter = Waiter::join(self)?;
        match timeout_at(deadline, Arc::clone(&self.places).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(self.place(permit)),
            // The semaphore is never closed, so that only time can have run out.
            Ok(Err(_)) | Err(_) => Err(NoPlace::WaitedTooLong(self.full())),
        }
    }

    fn place(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Place {
        Place { bulkhead: Arc::clone(self), permit: Some(permit), since: Instant::now() }
    }

    fn full(&self) -> Full {
        Full { limit: self.limit(), max_concurrency: self.max_concurrency }
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self, room: &Room) -> usize {
        room.places.saturating_sub(self.places.available_permits())
    }

    /// Adds places up to the limit, or takes away free ones down to it.
    fn fit(&self, room: &mut Room) {
        let limit = room.limit();
        if room.places < limit {
            self.places.add_permits(limit - room.places);
            room.places = limit;
        } else if room.places > limit {
            room.places -= self.places.forget_permits(room.places - limit);
        }
    }
}

impl Place {
    /// The vendor has begun to answer.
    pub(super) fn answered(&self) {
        let mut room = self.bulkhead.room();
        let in_flight = u32::try_from(self.bulkhead.taken(&room)).unwrap_or(u32::MAX);
        room.limit.on_success(in_flight, self.since.elapsed());
        self.bulkhead.fit(&mut room);
    }

    /// The vendor failed: less is asked of it at once if that was too much for it.
    pub(super) fn failed(&self, reason: ErrorReason) {
        if matches!(reason, ErrorReason::VendorOverloaded | ErrorReason::VendorRateLimited) {
            self.overloaded();
        }
    }

    /// The vendor took too long. When it said nothing at all, it may have too much to do.
    pub(super) fn timed_out(&self, stage: Stage) {
        if stage == Stage::FirstByte {
            self.overloaded();
        }
    }

    fn overloaded(&self) {
        let mut room = self.bulkhead.room();
        room.limit.on_overload(Instant::now().into_std());
        self.bulkhead.fit(&mut room);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut room = self.bulkhead.room();
        match self.permit.take() {
            Some(permit) if room.places > room.limit() => {
                permit.forget();
                room.places -= 1;
            }
            permit => drop(permit),
        }
        // What a waiter gave back that went away when its turn came.
        self.bulkhead.fit(&mut room);
    }
}

/// One call in the queue, until dropped.
struct Waiter<'a>(&'a Bulkhead);

impl<'a> Waiter<'a> {
    fn join(bulkhead: &'a Bulkhead) -> Result<Self, NoPlace> {
        // Counted first and looked at second: of several at once, no more than `max_queue` see a count below it.
        let waiter = Self(bulkhead);
        if bulkhead.waiting.fetch_add(1, Ordering::Relaxed) >= bulkhead.max_queue {
            return Err(NoPlace::QueueFull { full: bulkhead.full(), max_queue: bulkhead.max_queue });
        }
        Ok(waiter)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
