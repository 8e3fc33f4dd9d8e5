//! The clients.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use signalbox_api::{
    status::from_status,
    v1::{
        GenerateRequest, Route, StreamGenerateRequest, router_service_client::RouterServiceClient,
        stream_generate_response::Event,
    },
};
use signalbox_testkit::{Keyed, ask::request};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tonic::Status;

/// Who pays for all.
pub(super) const TENANT: &str = "acme";
/// Of a tier whose answers are dear.
const MODEL: &str = "anthropic/claude-opus-5-5";
const MAX_OUTPUT: i32 = 1000;
/// Of so many requests one is given up after its first word.
const LEAVES: u32 = 12;
/// And so many are streams.
const STREAMS: u32 = 4;
/// An answer that does not come will not come any more: whoever made it was killed.
const PATIENCE: Duration = Duration::from_secs(20);
const AFTER_REFUSAL: Duration = Duration::from_millis(50);
const AFTER_FAILURE: Duration = Duration::from_millis(20);

/// An answer that came whole.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub(super) request_id: String,
    pub(super) nano_eur: i64,
}

/// What happened so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    answered: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    left: AtomicU64,
}

/// How far the clients are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Told {
    /// Requests with a whole answer.
    pub answered: u64,
    /// Refused, since the budget is used up.
    pub refused: u64,
    /// Refused or broken off for another reason.
    pub failed: u64,
    /// Given up by the client.
    pub left: u64,
}

/// All clients, calling.
pub(super) struct Crowd {
    tally: Arc<Tally>,
    clients: JoinSet<Vec<Answered>>,
    stop: CancellationToken,
}

impl Crowd {
    /// So many clients of these routers.
    pub(super) fn call(routers: &[Keyed], clients: u64, seed: u64) -> Self {
        let (tally, stop) = (Arc::new(Tally::default()), CancellationToken::new());
        let mut all = JoinSet::new();
        for number in 0..clients {
            let client = Client {
                number,
                routers: routers.to_vec(),
                random: StdRng::seed_from_u64(seed.wrapping_mul(1000).wrapping_add(number)),
                tally: tally.clone(),
                answered: Vec::new(),
            };
            all.spawn(client.call(stop.clone()));
        }
        Self { tally, clients: all, stop }
    }

    pub(super) fn told(&self) -> Told {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Tally { answered, refused, failed, left } = &*self.tally;
        Told { answered: of(answered), refused: of(refused), failed: of(failed), left: of(left) }
    }

    /// Lets everybody end what is under way. All answers.
    pub(super) async fn stop(self) -> Vec<Answered> {
        self.stop.cancel();
        self.clients.join_all().await.into_iter().flatten().collect()
    }
}

/// What one request costs, and what is reserved for it at most.
pub(super) fn one(request_id: &str) -> GenerateRequest {
    GenerateRequest {
        request_id: request_id.to_owned(),
        tenant_id: TENANT.to_owned(),
        max_output_tokens: Some(MAX_OUTPUT),
        ..request(MODEL, "Why is the sky blue?")
    }
}

struct Client {
    number: u64,
    routers: Vec<Keyed>,
    random: StdRng,
    tally: Arc<Tally>,
    answered: Vec<Answered>,
}

impl Client {
    async fn call(mut self, stop: CancellationToken) -> Vec<Answered> {
        let mut call = 0u64;
        while !stop.is_cancelled() {
            call += 1;
            let pause = self.one(format!("client-{}-{call}", self.number)).await;
            let _stopped = timeout(pause, stop.cancelled()).await;
        }
        self.answered
    }

    /// One request, and the pause after it.
    async fn one(&mut self, request_id: String) -> Duration {
        let router = self.random.random_range(0..self.routers.len().max(1));
        let Some(router) = self.routers.get(router).cloned() else { return AFTER_FAILURE };
        let client = RouterServiceClient::new(router);
        let asked = one(&request_id);
        let ended = match self.random.random_range(0..LEAVES) {
            0 => timeout(PATIENCE, leave(client, asked)).await,
            1..=STREAMS => timeout(PATIENCE, stream(client, asked)).await,
            _ => timeout(PATIENCE, whole(client, asked)).await,
        };
        let late = || Err(Status::deadline_exceeded("no answer"));
        match ended.unwrap_or_else(|_| late()) {
            Ok(Some(route)) => {
                let nano_eur = route.total_cost.map_or(0, |cost| cost.nano_eur);
                self.answered.push(Answered { request_id, nano_eur });
                count(&self.tally.answered);
                Duration::ZERO
            }
            Ok(None) => {
                count(&self.tally.left);
                Duration::ZERO
            }
            Err(status) if from_status(&status).reason.name() == "BUDGET_EXHAUSTED" => {
                count(&self.tally.refused);
                sleep(AFTER_REFUSAL).await;
                Duration::ZERO
            }
            Err(_) => {
                count(&self.tally.failed);
                AFTER_FAILURE
            }
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

type Router = RouterServiceClient<Keyed>;

async fn whole(mut router: Router, asked: GenerateRequest) -> Result<Option<Route>, Status> {
    Ok(router.generate(asked).await?.into_inner().route)
}

async fn stream(mut router: Router, asked: GenerateRequest) -> Result<Option<Route>, Status> {
    let asked = StreamGenerateRequest { request: Some(asked) };
    let mut events = router.stream_generate(asked).await?.into_inner();
    while let Some(message) = events.message().await? {
        if let Some(Event::Done(done)) = message.event {
            return Ok(done.route);
        }
    }
    Err(Status::data_loss("the stream ended without `done`"))
}

async fn leave(mut router: Router, asked: GenerateRequest) -> Result<Option<Route>, Status> {
    let asked = StreamGenerateRequest { request: Some(asked) };
    router.stream_generate(asked).await?.into_inner().message().await?;
    Ok(None)
}
