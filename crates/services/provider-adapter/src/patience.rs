//! How long a stream may be silent before its first content.

use signalbox_types::{ErrorReason, Failure};
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

/// Runs until the first content has come.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    until: Instant,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// From now on.
    pub(crate) fn start(limit: Duration) -> Self {
        Self { limit, until: Instant::now() + limit, timer: None }
    }

    /// What opens the stream, for as long as there is patience.
    pub(crate) async fn bound<T>(
        &self,
        opening: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        timeout_at(self.until, opening).await.unwrap_or_else(|_| Err(self.failure()))
    }

    /// Ready once there is none left.
    pub(crate) fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        let until = self.until;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        timer.as_mut().poll(cx).map(|()| self.failure())
    }

    fn failure(&self) -> Failure {
        let limit = self.limit.as_millis();
        let message = format!("no content came within {limit} ms (first_byte_timeout of the task type)");
        Failure::new(ErrorReason::VendorTimeout, message)
    }
}
