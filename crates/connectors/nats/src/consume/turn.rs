//! From one epoch to the next.

use super::{
    Oldest, UsageConsumer,
    epoch::{Epoch, Memory, NOTE},
    lost,
    pull::Puller,
};
use crate::subjects::USAGE_STREAM;
use signalbox_ports::BusAway;
use std::time::SystemTime;

impl UsageConsumer {
    /// The epoch of now. When it is another one, nothing of before is any more what it was.
    pub(super) async fn epoch(&mut self) -> Result<Epoch, BusAway> {
        // A server that stands alone is known by its connection; in a cluster only the servers know.
        let server = self.nats.client().server_info().server_id;
        if self.epoch.as_ref().is_none_or(|epoch| epoch.memory.id != server) {
            // Dropped where it is another epoch: what still comes of its requests is of before.
            let puller = self.puller.take().ok_or_else(lost)?;
            if !self.look(&puller).await? {
                self.puller = Some(puller);
            }
        }
        self.epoch.clone().ok_or_else(lost)
    }

    /// Whether another epoch has begun.
    pub(super) async fn look(&mut self, puller: &Puller) -> Result<bool, BusAway> {
        let info = puller.info().await?;
        let memory = Memory::of(&info, &self.nats.client().server_info().server_id);
        if self.epoch.as_ref().is_some_and(|epoch| epoch.memory == memory) {
            return Ok(false);
        }
        let noted = info.config.metadata.get(NOTE).and_then(|note| Epoch::noted(&memory, note));
        let epoch = match noted {
            Some(epoch) => epoch,
            None => self.begin_epoch(puller, memory).await?,
        };
        self.epoch = Some(epoch);
        self.epochs += 1;
        self.kept.clear();
        self.oldest = Oldest::default();
        Ok(true)
    }

    async fn begin_epoch(&self, puller: &Puller, memory: Memory) -> Result<Epoch, BusAway> {
        let away = |error: &dyn std::fmt::Display| BusAway(error.to_string());
        let stream = self.context.get_stream(USAGE_STREAM).await.map_err(|error| away(&error))?;
        let state = &stream.cached_info().state;
        // Before the first consumer nothing was delivered to anybody.
        let unread = puller.is_first && self.epoch.is_none() && state.first_sequence <= 1;
        let (since, through) = if unread {
            (SystemTime::UNIX_EPOCH, 0)
        } else {
            (self.options.clock.now(), state.last_sequence)
        };
        let epoch = Epoch::begun(memory, since, through);
        puller.note(&self.context, NOTE, epoch.note()).await?;
        Ok(epoch)
    }
}
