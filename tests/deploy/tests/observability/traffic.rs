//! Traffic that makes metrics appear: failures, budgets, the cache, a drill, and what else happens to a deployment.

use serde_json::{Value, json};
use signalbox_api::v1::{
    self, BatchItem, BatchJob, Budget, CreateBudgetRequest, Drill, GenerateRequest, InvalidateRequest,
    RateLimit, StartDrillRequest, StreamBatchResultsRequest, SubmitBatchJobRequest, Target, Tenant,
    api_key::Scope,
    batch_item,
    batch_service_client::BatchServiceClient,
    budget::{Action, Enforcement, Period, Threshold},
    budget_service_client::BudgetServiceClient,
    cache_service_client::CacheServiceClient,
    fault::Fault,
    invalidate_request,
};
use signalbox_testkit::{
    RedisServer, Topology, World,
    ask::{Mode, ask, request},
    eventually,
};
use signalbox_vendorsim::Vendor;

pub(super) const LUNA: &str = "openai/gpt-6-luna";
const HAIKU: &str = "anthropic/claude-haiku-5-5";
const GEMINI: &str = "gemini/gemini-3.5-flash";
const XAI: &str = "xai/grok-3-mini";
const UNPRICED: &str = "openai/of-no-price";
/// Two wordings of one instruction.
const WORDINGS: [&str; 2] = [
    "Give tags for the interview with Laura Bianchi",
    "Give me the tags of the interview with Laura Bianchi",
];

/// One process with everything in it.
pub(super) struct Everything {
    pub(super) world: World,
    _redis: RedisServer,
}

/// Told soon, and much at once.
fn config(redis: &RedisServer) -> Value {
    json!({
        "alerts": {"interval": "1s", "rules": {"failing-now": {"min_calls": 10}}},
        "aliases": {"pair": {"targets": [LUNA, HAIKU]}},
        "batch": {"window_wait": "50ms", "poll_interval": "50ms", "max_poll_interval": "50ms"},
        "cache": {"enabled": true, "exact_timeout": "5s", "semantic_timeout": "5s"},
        "content_policies": {"strict": {"rules": [{"name": "notes", "words": ["memo"], "action": "flag"}]}},
        "content_policy": "strict",
        "drills": {"enabled": true},
        "failover": {"quick_retry_delay": "1ms"},
        "heartbeat": {"enabled": true, "interval": "1s", "timeout": "1s"},
        "models": {(UNPRICED): {"capabilities": ["text", "streaming"], "context_window": 8192}},
        "redis": {"url": redis.url()},
        "task_types": {
            "headline": {"targets": [LUNA, HAIKU], "hedge": {"after": "200ms", "max_share": 0.5}},
            "tags": {"targets": [HAIKU], "cache": {"semantic": "shadow", "floor": 0.5}},
        },
        "usage": {"ingest": {"batch_interval": "50ms"}},
        "vendors": {"xai": {"rate_limit": {"requests_per_minute": 1}}},
    })
}

fn of(tenant: &str, model: &str, text: &str) -> GenerateRequest {
    GenerateRequest { tenant_id: tenant.to_owned(), ..request(model, text) }
}

impl Everything {
    pub(super) async fn start() -> Self {
        let redis = RedisServer::start().await;
        let world = World::start(Topology::AllInOne, config(&redis)).await;
        Self { world, _redis: redis }
    }

    /// All that happens, one after the other: what comes first must not be in the way of what follows.
    pub(super) async fn happen(&self) {
        self.answers().await;
        self.hedge().await;
        self.cache().await;
        self.batches().await;
        self.budget().await;
        self.drill().await;
        self.failures().await;
        self.strangers().await;
    }

    /// Whatever comes of it.
    async fn ask(&self, mode: Mode, request: GenerateRequest) {
        let _whatever = ask(&mut self.world.client(), mode, request).await;
    }

    async fn answers(&self) {
        for mode in Mode::ALL {
            self.ask(mode, of("acme", "pair", "A memo?")).await;
            // Nobody knows what it costs.
            self.ask(mode, of("acme", UNPRICED, "Hello?")).await;
            // The second is one too many.
            self.ask(mode, of("acme", XAI, "Hello?")).await;
        }
    }

    async fn hedge(&self) {
        let asked = |n: usize| GenerateRequest {
            task_type: "headline".to_owned(),
            ..of("acme", "", &format!("{n}?"))
        };
        for n in 0..4 {
            self.ask(Mode::Stream, asked(n)).await;
        }
        self.world.fault(Vendor::Openai, "first-byte=60000");
        self.ask(Mode::Stream, asked(4)).await;
        self.world.vendors.clear_faults();
    }

    async fn cache(&self) {
        for _ in 0..2 {
            self.ask(Mode::Unary, of("acme", HAIKU, "Again?")).await;
        }
        for wording in WORDINGS {
            let tags = GenerateRequest { task_type: "tags".to_owned(), ..of("acme", "", wording) };
            self.ask(Mode::Unary, tags).await;
        }
        let scope = Some(invalidate_request::Scope::TaskType("tags".to_owned()));
        let request =
            InvalidateRequest { tenant_id: "acme".to_owned(), scope, ..InvalidateRequest::default() };
        CacheServiceClient::new(self.world.signalbox.router.channel()).invalidate(request).await.unwrap();
    }

    /// One that a vendor refuses and nobody else takes, one that is answered, and one that stays where it is.
    async fn batches(&self) {
        self.world.fault(Vendor::Openai, "refuse");
        self.job("refused").await;
        self.batch_ends("refused").await;
        self.world.vendors.clear_faults();
        self.job("answered").await;
        self.batch_ends("answered").await;
        self.world.fault(Vendor::Openai, "hold");
        self.job("held").await;
        eventually("the vendor has it", || async {
            let submitted = [("state", "submitted"), ("vendor", "openai")];
            self.world.signalbox.metrics().await.sum("signalbox_batch_windows", &submitted) >= 1.0
        })
        .await;
        self.world.vendors.clear_faults();
    }

    async fn job(&self, job_id: &str) {
        let job = BatchJob { job_id: job_id.to_owned(), tenant_id: "acme".to_owned(), ..BatchJob::default() };
        let asked = batch_item::Request::Generate(of("acme", LUNA, "Tomorrow?"));
        let items = vec![BatchItem { item_id: "one".to_owned(), request: Some(asked) }];
        let whole = futures_util::stream::iter([SubmitBatchJobRequest { job: Some(job), items }]);
        BatchServiceClient::new(self.world.signalbox.router.channel()).submit_batch_job(whole).await.unwrap();
    }

    async fn batch_ends(&self, job_id: &str) {
        let asked = StreamBatchResultsRequest {
            job_id: job_id.to_owned(),
            tenant_id: "acme".to_owned(),
            follow: true,
            ..StreamBatchResultsRequest::default()
        };
        let mut lane = BatchServiceClient::new(self.world.signalbox.router.channel());
        let mut results = lane.stream_batch_results(asked).await.unwrap().into_inner();
        while results.message().await.unwrap().is_some() {}
    }

    /// A tenant spends all it has.
    async fn budget(&self) {
        let rate_limit = Some(RateLimit { requests_per_minute: 60_000, ..RateLimit::default() });
        let tenant = Tenant { tenant_id: "poor".to_owned(), rate_limit, ..Tenant::default() };
        self.world.signalbox.router.add_tenant("", tenant).await;
        let notice = Threshold { used_share: 0.01, action: Action::Notify.into(), ..Threshold::default() };
        let budget = Budget {
            tenant_id: "poor".to_owned(),
            budget_id: "monthly".to_owned(),
            period: Period::Monthly.into(),
            enforcement: Enforcement::Hard.into(),
            limit_nano_eur: 1_000_000,
            thresholds: vec![notice],
            ..Budget::default()
        };
        let mut client = BudgetServiceClient::new(self.world.signalbox.router.channel());
        client.create_budget(CreateBudgetRequest { budget: Some(budget) }).await.unwrap();
        for n in 0..200 {
            let asked =
                GenerateRequest { max_output_tokens: Some(64), ..of("poor", HAIKU, &format!("{n} cents?")) };
            if ask(&mut self.world.client(), Mode::Unary, asked).await.is_err() {
                return;
            }
        }
        panic!("the budget was never used up");
    }

    async fn drill(&self) {
        let drill = Drill {
            target: Some(Target { vendor: "gemini".to_owned(), model: String::new() }),
            fault: Some(v1::Fault { fault: Some(Fault::Status(500)) }),
            share: 1.0,
            duration: Some(prost_types::Duration { seconds: 600, nanos: 0 }),
            ..Drill::default()
        };
        let request = StartDrillRequest { drill: Some(drill) };
        self.world.signalbox.router.admin().start_drill(request).await.unwrap();
        self.ask(Mode::Unary, of("acme", GEMINI, "Hello?")).await;
    }

    /// Until breakers open and models are found to be unusual.
    async fn failures(&self) {
        self.world.fault(Vendor::Openai, "status=500");
        for n in 0..30 {
            self.ask(Mode::Unary, of("acme", "pair", &format!("Try {n}?"))).await;
        }
        self.world.fault(Vendor::Anthropic, "status=401");
        self.ask(Mode::Unary, of("acme", HAIKU, "A key?")).await;
    }

    /// From the first key on, nobody comes in without one.
    async fn strangers(&self) {
        self.world.signalbox.router.make_key("", "poor", Scope::Admin).await;
        let mut stranger = self.world.signalbox.router.budgets("sbx_of_nobody_at_all");
        stranger.list_tenants(v1::ListTenantsRequest::default()).await.unwrap_err();
    }
}
