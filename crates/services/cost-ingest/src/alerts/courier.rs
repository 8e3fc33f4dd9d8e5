//! Carries news of alerts to the bus and to a receiver outside, so that a slow one holds up no watch.

use super::metrics::delivered;
use signalbox_ports::{AlertBus, AlertHook, AlertNews, NotTold};
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::Instant};

/// For how long a receiver that is ill is told the same again. The next news waits meanwhile, for the order matters.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// The pause before the second try; each next one doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// News that may wait.
pub(super) const WAITING: usize = 1_024;

/// Who is told of alerts, besides the log.
#[derive(Debug, Clone, Default)]
pub struct Courier {
    /// The bus. Of several watchers the first to tell news on it also tells the receiver.
    pub bus: Option<Arc<dyn AlertBus>>,
    /// A receiver outside.
    pub hook: Option<Arc<dyn AlertHook>>,
}

impl Courier {
    /// Carries news, oldest first, until no more can come.
    pub(super) async fn run(self, mut news: mpsc::Receiver<AlertNews>) {
        while let Some(news) = news.recv().await {
            self.carry(&news).await;
        }
    }

    async fn carry(&self, news: &AlertNews) {
        if self.is_news(news).await
            && let Some(hook) = &self.hook
        {
            post(&**hook, news).await;
        }
    }

    /// Tells the bus. While it is away, a receiver is rather told twice than not at all.
    async fn is_news(&self, news: &AlertNews) -> bool {
        let Some(bus) = &self.bus else { return true };
        match bus.publish(news).await {
            Ok(is_news) => {
                delivered("nats", if is_news { "told" } else { "repeated" });
                is_news
            }
            Err(away) => {
                delivered("nats", "failed");
                tracing::warn!(alert = news.id, error = %away, "an alert was not published");
                true
            }
        }
    }
}

async fn post(hook: &dyn AlertHook, news: &AlertNews) {
    let (since, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        let why = match hook.post(news).await {
            Ok(()) => return delivered("webhook", "told"),
            Err(NotTold::Yet(why)) if since.elapsed() < PATIENCE => {
                tracing::debug!(alert = news.id, why, "the webhook was not told yet");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                continue;
            }
            Err(NotTold::Yet(why) | NotTold::Ever(why)) => why,
        };
        delivered("webhook", "failed");
        return tracing::error!(alert = news.id, why, "the webhook was not told of an alert");
    }
}
