//! Alerts: what watches, and who is told.

use crate::serve::nats::streams;
use signalbox_cost_ingest::{AlertWatcher, Courier, Dependencies, WatchOptions};
use signalbox_kit::config::{AlertsConfig, WebhookConfig};
use signalbox_nats::{Nats, NatsAlerts};
use signalbox_ports::{AlertBus, AlertHook};
use signalbox_webhook::{Webhook, WebhookOptions};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A watch that is ready to run.
pub(super) struct Alerts {
    watcher: AlertWatcher,
    courier: Courier,
}

impl Alerts {
    /// As the configuration says; none where it wants none.
    pub(super) fn prepare(service: &Dependencies, nats: Option<&Nats>) -> Result<Option<Self>, String> {
        let loaded = service.config.loaded();
        let config = &loaded.config.alerts;
        if !config.enabled {
            return Ok(None);
        }
        let watcher = AlertWatcher::new(
            service.store.clone(),
            service.progress.clone(),
            service.alerts.clone(),
            service.clock.clone(),
            options(config),
        );
        let bus = nats.map(|nats| {
            let bus: Arc<dyn AlertBus> = Arc::new(NatsAlerts::new(nats.clone(), streams(&service.config)));
            bus
        });
        let hook = config.webhook.as_ref().map(|webhook| hook(webhook, service)).transpose();
        let hook = hook.map_err(|problem| format!("alerts.webhook: {problem}"))?;
        Ok(Some(Self { watcher, courier: Courier { bus, hook } }))
    }

    /// Watches until the process drains.
    pub(super) async fn run(self, drain: CancellationToken) {
        self.watcher.run(self.courier, drain).await;
    }
}

fn options(config: &AlertsConfig) -> WatchOptions {
    WatchOptions {
        rules: config.rules(),
        timing: config.timing(),
        history_days: config.history_days,
        interval: config.interval.0,
        lag: config.lag.0,
    }
}

fn hook(config: &WebhookConfig, service: &Dependencies) -> Result<Arc<dyn AlertHook>, String> {
    let env = service.config.environment();
    let url = config.address(env).map_err(|problem| format!("url: {problem}"))?;
    let secret = config.secret(env).map_err(|problem| format!("secret: {problem}"))?;
    let secret = secret.map(|secret| secret.expose().to_owned());
    let options = WebhookOptions { url, secret, timeout: config.timeout.0 };
    Ok(Arc::new(Webhook::new(options, service.clock.clone())?))
}
