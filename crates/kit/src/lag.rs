//! Time limits that are not blamed on others while this process is itself behind.

use std::{pin::Pin, time::Duration};
use tokio::time::{Instant, timeout_at};

/// A timer that goes off this much too late says that this process is behind. Timers are a millisecond coarse.
const BEHIND: Duration = Duration::from_millis(2);
/// How often what is waited for gets another look: an answer passes two tasks between the network and who waits for it.
const LOOKS: u32 = 3;
/// The longest that one of them takes.
const LONGEST_LOOK: Duration = Duration::from_millis(250);

/// Later than any process lives.
const FAR: Duration = Duration::from_hours(24 * 365 * 30);

/// The time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the time is over")]
pub struct Over;

/// Waits for something until a time. Where this process notices too late that the time is over, as in a crowd of requests,
/// what it waited for may lie there unread, or never have been sent: then it waits a few times more, as long as it was late.
///
/// # Errors
/// It did not come in time.
pub fn until<T>(deadline: Instant, what: impl Future<Output = T>) -> impl Future<Output = Result<T, Over>> {
    // Boxed, or whoever waits would carry it twice.
    looks(deadline, Box::pin(what))
}

async fn looks<T>(mut deadline: Instant, mut what: Pin<Box<impl Future<Output = T>>>) -> Result<T, Over> {
    for _ in 0..=LOOKS {
        if let Ok(came) = timeout_at(deadline, &mut what).await {
            return Ok(came);
        }
        let now = Instant::now();
        let late = now.saturating_duration_since(deadline);
        if late < BEHIND {
            break;
        }
        deadline = now + late.min(LONGEST_LOOK);
    }
    Err(Over)
}

/// The same, for so long.
///
/// # Errors
/// It did not come in time.
pub fn within<T>(limit: Duration, what: impl Future<Output = T>) -> impl Future<Output = Result<T, Over>> {
    let now = Instant::now();
    until(now.checked_add(limit).unwrap_or_else(|| now + FAR), what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future;
    use tokio::{task::yield_now, time::timeout};

    const LIMIT: Duration = Duration::from_millis(5);

    #[expect(clippy::disallowed_methods, reason = "blocking the runtime is what this is about")]
    fn block(time: Duration) {
        std::thread::sleep(time);
    }

    /// An answer that takes many turns of a busy process, none of which is slow by itself.
    async fn answered_by_a_busy_process() {
        tokio::spawn(async {
            block(4 * LIMIT);
            for _ in 0..300 {
                yield_now().await;
            }
        })
        .await
        .unwrap_or_default();
    }

    #[tokio::test]
    async fn who_is_behind_does_not_take_an_answer_for_late() {
        assert!(timeout(LIMIT, answered_by_a_busy_process()).await.is_err(), "as it would be else");
        assert_eq!(within(LIMIT, answered_by_a_busy_process()).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_come_is_given_up_in_time() {
        let began = Instant::now();
        assert_eq!(within(LIMIT, future::pending::<()>()).await, Err(Over));
        assert_eq!(began.elapsed(), LIMIT);
        assert_eq!(within(Duration::MAX, future::ready(7)).await, Ok(7));
    }

    #[tokio::test]
    async fn nor_is_it_waited_for_without_end_by_who_is_always_behind() {
        let busy = tokio::spawn(async {
            loop {
                block(LIMIT);
                yield_now().await;
            }
        });
        let began = Instant::now();
        assert_eq!(within(LIMIT, future::pending::<()>()).await, Err(Over));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        busy.abort();
    }
}
