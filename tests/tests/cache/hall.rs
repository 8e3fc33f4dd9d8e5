//! Routers that each keep answers beside them, in one Redis.

use serde_json::{Value, json};
use signalbox_api::v1::{GenerateRequest, GenerateResponse};
use signalbox_testkit::{KEYS, Options, RedisServer, Signalbox, at_simulator, eventually, merge};
use signalbox_vendorsim::{Fault, Match, Simulator, Times, Vendor};
use std::path::PathBuf;
use tempfile::TempDir;
use tonic::Status;

/// Processes with the roles router and cache, an adapter, and the Redis they share.
pub(super) struct Hall {
    pub(super) vendors: Simulator,
    pub(super) redis: RedisServer,
    pub(super) routers: Vec<Signalbox>,
    _adapter: Signalbox,
    _folder: TempDir,
}

impl Hall {
    /// One with so many routers, and something laid over their configuration.
    pub(super) async fn open(routers: usize, change: Value) -> Self {
        let vendors = Simulator::builder().keep_requests(4096).bind("127.0.0.1:0").await.unwrap();
        let redis = RedisServer::start().await;
        let folder = tempfile::tempdir().unwrap();
        let mut config = at_simulator(&vendors);
        merge(
            &mut config,
            json!({
                "routing": {"order": "listed"},
                "cache": {"enabled": true, "store": {"redis": {"url": redis.url()}}},
            }),
        );
        merge(&mut config, change);
        let write = |name: &str, config: &Value| -> PathBuf {
            let file = folder.path().join(name);
            std::fs::write(&file, config.to_string()).unwrap();
            file
        };
        let adapter = serve("adapter", write("adapter.yaml", &config)).await;
        merge(&mut config, json!({"peers": {"adapter": [format!("http://{}", adapter.address())]}}));
        let file = write("router.yaml", &config);
        let mut all = Vec::new();
        for _ in 0..routers {
            all.push(serve("router,cache", file.clone()).await);
        }
        for router in &all {
            eventually("the router is ready", || async { router.ready().await.is_ok() }).await;
        }
        Self { vendors, redis, routers: all, _adapter: adapter, _folder: folder }
    }

    /// Asks one of the routers.
    pub(super) async fn ask(
        &self,
        router: usize,
        request: GenerateRequest,
    ) -> Result<GenerateResponse, Status> {
        let router = &self.routers[router % self.routers.len()];
        router.client().generate(request).await.map(tonic::Response::into_inner)
    }

    /// Lets every call take so long.
    pub(super) fn slow(&self, millis: u32) {
        let fault = Fault::parse(&format!("delay={millis}")).unwrap();
        self.vendors.clear_faults();
        self.vendors.set_fault(Match::vendor(Vendor::Openai), fault, Times::Always);
    }
}

async fn serve(roles: &'static str, config: PathBuf) -> Signalbox {
    let own = [("SIGNALBOX_CACHE_SECRET", "a secret that nobody but these processes has")];
    let env = KEYS.iter().chain(&own).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Signalbox::serve(Options { config: Some(config), roles, env: env.collect(), ..Options::default() }).await
}
