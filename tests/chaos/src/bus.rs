//! The NATS servers.

use crate::field::Mode;
use async_nats::jetstream::{self, Context};
use signalbox_nats::USAGE_STREAM;
use signalbox_testkit::{NatsCluster, NatsServer};

/// One server, or three.
#[derive(Debug)]
pub(crate) struct Bus {
    servers: Servers,
    context: Context,
    /// The server that was killed, in a cluster.
    dead: Option<String>,
}

#[derive(Debug)]
enum Servers {
    One(Box<NatsServer>),
    Three(NatsCluster),
}

impl Servers {
    fn urls(&self) -> Vec<String> {
        match self {
            Self::One(server) => vec![server.url()],
            Self::Three(cluster) => cluster.urls(),
        }
    }
}

impl Bus {
    pub(crate) async fn start(mode: Mode) -> Result<Option<Self>, String> {
        let servers = match mode {
            Mode::Embedded => return Ok(None),
            Mode::Nats => Servers::One(Box::new(NatsServer::start().await)),
            Mode::Cluster => Servers::Three(NatsCluster::start().await),
        };
        let client = async_nats::connect(servers.urls()).await.map_err(|error| error.to_string())?;
        Ok(Some(Self { servers, context: jetstream::new(client), dead: None }))
    }

    pub(crate) fn urls(&self) -> Vec<String> {
        self.servers.urls()
    }

    /// Kills the server, or that of the cluster that leads the stream.
    pub(crate) async fn kill(&mut self) {
        let leader = self.leader().await;
        match &mut self.servers {
            Servers::One(server) => server.kill().await,
            Servers::Three(cluster) => {
                let leader = leader.unwrap_or_else(|| "n0".to_owned());
                cluster.node(&leader).kill().await;
                self.dead = Some(leader);
            }
        }
    }

    pub(crate) async fn revive(&mut self) {
        match (&mut self.servers, self.dead.take()) {
            (Servers::One(server), _) => server.restart().await,
            (Servers::Three(cluster), Some(dead)) => cluster.node(&dead).restart().await,
            (Servers::Three(_), None) => {}
        }
    }

    async fn leader(&self) -> Option<String> {
        let stream = self.context.get_stream(USAGE_STREAM).await.ok()?;
        stream.cached_info().cluster.as_ref()?.leader.clone()
    }

    /// Messages that nobody has acknowledged; none while the servers do not answer.
    pub(crate) async fn waiting(&self) -> Option<u64> {
        let stream = self.context.get_stream(USAGE_STREAM).await.ok()?;
        Some(stream.cached_info().state.messages)
    }
}
