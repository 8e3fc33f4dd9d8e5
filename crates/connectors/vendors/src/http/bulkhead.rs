//! Keeps one vendor from taking another's capacity.

use super::config::VendorConfig;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

/// Places for calls under way at one vendor entry, and a bounded queue for the next.
///
/// One for the whole process, shared by the [`HttpVendor`](super::HttpVendor)s of every runtime.
#[derive(Debug)]
pub struct Bulkhead {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    max_concurrency: usize,
    max_queue: usize,
}

/// A place; given back when dropped.
pub(super) type Place = OwnedSemaphorePermit;

/// Why there was no place. Reads on from "vendor `x` is busy: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    #[error("{max_concurrency} calls are under way (max_concurrency) and {max_queue} wait (max_queue)")]
    QueueFull { max_concurrency: usize, max_queue: usize },
    #[error(
        "{max_concurrency} calls are under way (max_concurrency), and none ended while this one could wait"
    )]
    WaitedTooLong { max_concurrency: usize },
}

impl Bulkhead {
    /// Places for `max_concurrency` calls, and for `max_queue` more to wait.
    pub fn new(max_concurrency: usize, max_queue: usize) -> Self {
        let max_concurrency = max_concurrency.min(Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(max_concurrency)),
            waiting: AtomicUsize::new(0),
            max_concurrency,
            max_queue,
        }
    }

    /// The bulkhead that a vendor entry asks for, to be shared by all its clients.
    pub fn for_vendor(config: &VendorConfig) -> Arc<Self> {
        Arc::new(Self::new(config.max_concurrency, config.max_queue))
    }

    /// Calls under way.
    pub fn in_flight(&self) -> usize {
        self.max_concurrency - self.places.available_permits()
    }

    /// Calls waiting for a place.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Takes a place: at once where one is free, else first come, first served.
    pub(super) async fn enter(&self, deadline: Instant) -> Result<Place, NoPlace> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let _waiter = Waiter::join(self)?;
        match timeout_at(deadline, Arc::clone(&self.places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            // The semaphore is never closed, so that only time can have run out.
            Ok(Err(_)) | Err(_) => Err(NoPlace::WaitedTooLong { max_concurrency: self.max_concurrency }),
        }
    }
}

/// One call in the queue, until dropped.
struct Waiter<'a>(&'a Bulkhead);

impl<'a> Waiter<'a> {
    fn join(bulkhead: &'a Bulkhead) -> Result<Self, NoPlace> {
        let Bulkhead { waiting, max_concurrency, max_queue, .. } = bulkhead;
        // Counted first and looked at second: of several at once, no more than `max_queue` see a count below it.
        let waiter = Self(bulkhead);
        if waiting.fetch_add(1, Ordering::Relaxed) >= *max_queue {
            return Err(NoPlace::QueueFull { max_concurrency: *max_concurrency, max_queue: *max_queue });
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
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::{pin::pin, time::Duration};

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[tokio::test(start_paused = true)]
    async fn a_freed_place_goes_to_the_one_who_waited_longest() {
        let bulkhead = Bulkhead::new(1, 2);
        let place = bulkhead.enter(soon()).await.unwrap();
        let mut first = pin!(bulkhead.enter(soon()));
        let mut second = pin!(bulkhead.enter(soon()));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (1, 2));

        drop(place);
        assert!(second.as_mut().now_or_never().is_none());
        let place = first.as_mut().now_or_never().unwrap().unwrap();
        drop(place);
        assert!(second.as_mut().now_or_never().unwrap().is_ok());
        assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn one_more_than_the_queue_holds_is_refused_at_once_by_name_of_the_limit() {
        let bulkhead = Bulkhead::new(1, 1);
        let _place = bulkhead.enter(soon()).await.unwrap();
        {
            let mut waiting = pin!(bulkhead.enter(soon()));
            assert!(waiting.as_mut().now_or_never().is_none());
            let refused = bulkhead.enter(soon()).now_or_never().unwrap().unwrap_err();
            assert_eq!(refused.to_string(), "1 calls are under way (max_concurrency) and 1 wait (max_queue)");
        }
        assert_eq!(bulkhead.waiting(), 0, "a waiter who goes away leaves the queue");
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_with_the_calls_own_time() {
        let bulkhead = Bulkhead::new(1, 1);
        let _place = bulkhead.enter(soon()).await.unwrap();
        let refused = bulkhead.enter(soon()).await.unwrap_err();
        assert_eq!(refused, NoPlace::WaitedTooLong { max_concurrency: 1 });
        assert_eq!(bulkhead.waiting(), 0);
    }

    #[test]
    fn places_are_shared_by_several_runtimes() {
        let bulkhead = Arc::new(Bulkhead::new(1, 1));
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let place = runtime().block_on(bulkhead.enter(soon())).unwrap();
        let other = std::thread::spawn({
            let bulkhead = Arc::clone(&bulkhead);
            move || runtime().block_on(bulkhead.enter(soon())).is_ok()
        });
        while bulkhead.waiting() == 0 {
            std::thread::yield_now();
        }
        drop(place);
        assert!(other.join().unwrap());
    }
}
