//! Callers who leave in the middle of a call.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// Lets a call go on until it was woken so many times, and gives it up then. Whether it came to its end.
pub async fn some_steps<T>(call: impl Future<Output = T>, steps: usize) -> bool {
    let mut call = pin!(call);
    let mut left = steps;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        call.as_mut().poll(context).map(|_| true)
    })
    .await
}
