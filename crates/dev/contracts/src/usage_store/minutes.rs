//! Calls by the minute.

use super::{
    Fresh,
    support::{Pair, everything, march},
};
use crate::{Events, calendar};
use signalbox_api::v1::UsageEvent;
use signalbox_kit::Clock;
use signalbox_ports::usage_store::Window;
use std::{sync::Arc, time::Duration};

/// Calls, failures, fallbacks, structured answers, cost and length of answers.
pub async fn minutes_tell_the_calls_of_each_model(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let start = calendar::at(2026, 3, 10, 8, 0);
    let busy = Events { seed: 5, count: 300, start, span: Duration::from_secs(600) };
    for batch in busy.iter().collect::<Vec<UsageEvent>>().chunks(100) {
        pair.insert(batch, &[]).await;
        pair.insert(batch, batch).await;
    }
    let minute = |minutes: u64, seconds: u64| start + Duration::from_secs(60 * minutes + seconds);
    pair.assert_minutes(everything()).await;
    pair.assert_minutes(march()).await;
    pair.assert_minutes(Window { start: minute(2, 0), end: minute(5, 0) }).await;
    // A minute is in as a whole if it began in the window.
    pair.assert_minutes(Window { start: minute(2, 30), end: minute(4, 30) }).await;
    assert!(pair.model.minutes(everything()).iter().any(|minute| minute.fell_back > 0));
}
