//! The real router, several times, in front of the simulated vendors.

use crate::{
    config::{self, ALIAS},
    dice::dice,
    fleet::{SimulatedFleet, request_id},
    policies::{Client, DEADLINE, Policy},
    record::{Ask, Outcome, Served},
    scenario::PROMPT_TOKENS,
    world::World,
};
use async_trait::async_trait;
use rand::RngExt;
use signalbox_api::{
    convert,
    status::from_status,
    v1::{self, provider_service_server::ProviderServiceServer, router_service_client::RouterServiceClient},
};
use signalbox_kit::{
    Clock, Hop,
    config::{ConfigHandle, Environment},
    hop,
};
use signalbox_router::{
    ConfiguredVendors, Dependencies, SharedDrills, SharedHealth, SharedHolds, UsualCosts, follow_health,
};
use signalbox_types::ErrorReason;
use std::{
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tempfile::NamedTempFile;
use tokio::time::Instant;
use tonic::Request;

const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// 1 June 2026: any day on which the models are served.
const DAY: Duration = Duration::from_secs(1_780_272_000);

/// The routers of a fleet; a request goes to any of them.
#[derive(Debug)]
pub(crate) struct Signalbox {
    world: Arc<World>,
    policy: Policy,
    file: NamedTempFile,
    config: Arc<ConfigHandle>,
    routers: Vec<RouterServiceClient<Hop>>,
    prompt: String,
}

impl Signalbox {
    pub(crate) fn start(world: Arc<World>, policy: Policy) -> io::Result<Self> {
        let file = NamedTempFile::new()?;
        std::fs::write(file.path(), config::text(&world.scenario, policy, Duration::ZERO))?;
        let clock: Arc<dyn Clock> = Arc::new(VirtualClock(Instant::now()));
        let environment = Environment::new([("KEY", "simulated")]);
        let config = ConfigHandle::start(Some(file.path().to_owned()), environment, clock.clone());
        let config = Arc::new(config.map_err(io::Error::other)?);
        let router = |caller| router(&world, caller, &config, &clock);
        let routers = (0..world.scenario.routers).map(router).collect();
        // Four letters are a token.
        let prompt = "word".repeat(PROMPT_TOKENS as usize);
        Ok(Self { world, policy, file, config, routers, prompt })
    }

    fn request(&self, ask: Ask) -> Request<v1::GenerateRequest> {
        let text = v1::Part { part: Some(v1::part::Part::Text(self.prompt.clone())), ..Default::default() };
        let message = v1::Message { role: v1::Role::User as i32, content: vec![text] };
        let mut request = Request::new(v1::GenerateRequest {
            messages: vec![message],
            model: ALIAS.to_owned(),
            request_id: request_id(ask.number),
            timeout: Some(convert::duration_to_proto(DEADLINE)),
            ..Default::default()
        });
        request.set_timeout(DEADLINE);
        request
    }

    async fn serve(&self, ask: Ask) -> Result<Served, ErrorReason> {
        let any = dice(self.world.scenario.seed, &[4, ask.number]).random_range(0..self.routers.len());
        let Some(mut router) = self.routers.get(any).cloned() else { return Err(ErrorReason::Internal) };
        let answer = router.generate(self.request(ask)).await;
        let route =
            answer.map_err(|status| from_status(&status).reason)?.into_inner().route.unwrap_or_default();
        let vendor = self.world.scenario.vendors.iter().position(|vendor| vendor.name == route.vendor);
        let nano_eur = route.total_cost.unwrap_or_default().nano_eur;
        Ok(Served { vendor: vendor.ok_or(ErrorReason::Internal)?, nano_eur })
    }
}

/// A router with what is its own, which follows the health that the adapter reports.
fn router(
    world: &Arc<World>,
    caller: usize,
    config: &Arc<ConfigHandle>,
    clock: &Arc<dyn Clock>,
) -> RouterServiceClient<Hop> {
    let adapter = hop::local(ProviderServiceServer::new(SimulatedFleet::new(world.clone(), caller)));
    let health = SharedHealth::seeded(world.scenario.seed.wrapping_add(caller as u64));
    tokio::spawn(follow_health(adapter.clone(), health.clone()));
    let dependencies = Dependencies {
        cache: None,
        moderator: None,
        config: config.clone(),
        adapter,
        vendors: ConfiguredVendors::default(),
        holds: SharedHolds::with_random(|| 0.5),
        health,
        drills: SharedDrills::new(config.clone(), clock.clone()),
        usual_costs: UsualCosts::default(),
        usage: Arc::new(signalbox_ports::NoLog),
        admission: Arc::new(signalbox_ports::Unlimited),
        clock: clock.clone(),
    };
    RouterServiceClient::new(hop::local(signalbox_router::server(dependencies, MAX_MESSAGE_BYTES)))
}

#[async_trait]
impl Client for Signalbox {
    async fn ask(&self, ask: Ask) -> Outcome {
        let started = Instant::now();
        let result = self.serve(ask).await;
        Outcome { ask, latency: started.elapsed(), result }
    }

    async fn targets(&self) -> Vec<f64> {
        let Some(mut router) = self.routers.first().cloned() else { return Vec::new() };
        let request = self.request(Ask { number: 0, at: self.world.now() }).into_inner();
        let explained =
            router.explain_route(v1::ExplainRouteRequest { request: Some(request), stream: false }).await;
        let candidates =
            explained.ok().and_then(|answer| answer.into_inner().decision).unwrap_or_default().candidates;
        let probability = |name: &str| {
            let named = candidates.iter().find(|candidate| candidate.vendor == name);
            named.map_or(0.0, |candidate| candidate.draw_probability)
        };
        self.world.scenario.vendors.iter().map(|vendor| probability(vendor.name)).collect()
    }

    async fn prices_changed(&self) -> io::Result<()> {
        let text = config::text(&self.world.scenario, self.policy, self.world.now());
        std::fs::write(self.file.path(), text)?;
        self.config.reload().await.map(drop).map_err(io::Error::other)
    }
}

/// Wall time that goes with tokio's.
#[derive(Debug)]
struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY + self.0.elapsed()
    }
}
