//! Work that is done after its caller was answered: so much at a time, and a bounded line of what waits.

use futures_util::future::BoxFuture;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Work to do.
pub(crate) type Job = BoxFuture<'static, ()>;

/// A line of work. Where it is full, the oldest is dropped for the newest. Clones share it.
#[derive(Clone)]
pub(crate) struct Queue {
    line: Arc<Mutex<Line>>,
    most: usize,
    at_once: usize,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Job>,
    running: usize,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.lock().jobs.len()).finish_non_exhaustive()
    }
}

impl Queue {
    pub(crate) fn new(most: usize, at_once: usize) -> Self {
        Self { line: Arc::default(), most: most.max(1), at_once: at_once.max(1) }
    }

    /// Has a job done in its turn. Whether another was dropped for it.
    pub(crate) fn push(&self, job: Job) -> bool {
        let dropped = {
            let mut line = self.lock();
            let dropped = if line.jobs.len() >= self.most { line.jobs.pop_front() } else { None };
            line.jobs.push_back(job);
            if line.running < self.at_once {
                line.running += 1;
                tokio::spawn(self.clone().work());
            }
            dropped
        };
        dropped.is_some()
    }

    async fn work(self) {
        // A job that panics takes its worker with it, not its place.
        let _place = Place(&self);
        while let Some(job) = self.next() {
            job.await;
        }
    }

    fn next(&self) -> Option<Job> {
        self.lock().jobs.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Place<'a>(&'a Queue);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::sync::mpsc;

    #[tokio::test(start_paused = true)]
    async fn a_full_line_drops_its_oldest_and_goes_on() {
        let queue = Queue::new(2, 1);
        let (done, mut dones) = mpsc::unbounded_channel();
        let (go, gone) = tokio::sync::oneshot::channel::<()>();
        queue.push(Box::pin(async {
            let _ = gone.await;
        }));
        tokio::task::yield_now().await;
        let push = |number: u32| {
            let done = done.clone();
            queue.push(Box::pin(async move { done.send(number).unwrap() }))
        };
        assert_eq!([push(1), push(2), push(3), push(4)], [false, false, true, true]);
        go.send(()).unwrap();
        assert_eq!((dones.recv().await, dones.recv().await), (Some(3), Some(4)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_hangs_holds_up_only_as_many_as_work_at_once() {
        let queue = Queue::new(8, 2);
        let (done, mut dones) = mpsc::unbounded_channel();
        queue.push(Box::pin(pending()));
        queue.push(Box::pin(async move { done.send(1).unwrap() }));
        assert_eq!(dones.recv().await, Some(1));
    }
}
