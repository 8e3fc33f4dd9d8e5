//! What a lookup costs in one process: `cargo bench -p signalbox-cache`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark tells its figures and may fail loudly"
)]

use signalbox_api::v1::{
    CacheContext, CachedAnswer, Cost, FinishReason, GenerateRequest, LookupRequest, Message, Part, Purpose,
    Role, Sampling, StoreRequest, cache_effect::Outcome, cache_service_client::CacheServiceClient, part,
};
use signalbox_cache::{Dependencies, HashedNgrams, Options, Policies, server};
use signalbox_cache_memory::MemoryCache;
use signalbox_caching::{Overrides, Secret, Semantic, TaskPolicy};
use signalbox_guards::Guards;
use signalbox_kit::{Hop, SystemClock, hop::local};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const ROUNDS: usize = 20_000;

/// `plain` matches exactly, `shadow` by meaning too, and nothing is kept of `off`.
#[derive(Debug)]
struct Tasks {
    plain: Arc<TaskPolicy>,
    shadow: Arc<TaskPolicy>,
    off: Arc<TaskPolicy>,
}

impl Policies for Tasks {
    fn of(&self, _: &str, task_type: &str) -> Arc<TaskPolicy> {
        match task_type {
            "shadow" => self.shadow.clone(),
            "off" => self.off.clone(),
            _ => self.plain.clone(),
        }
    }

    fn check_task_type(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

fn client() -> CacheServiceClient<Hop> {
    let clock = Arc::new(SystemClock);
    let of = |overrides: Overrides| Arc::new(TaskPolicy::of("", [&overrides]));
    let policies = Tasks {
        plain: of(Overrides::default()),
        shadow: of(Overrides { semantic: Some(Semantic::Shadow), floor: Some(0.5), ..Overrides::default() }),
        off: of(Overrides { exact: Some(false), ..Overrides::default() }),
    };
    let dependencies = Dependencies {
        store: Arc::new(MemoryCache::new(256 << 20, clock.clone())),
        embedder: Arc::new(HashedNgrams),
        verifier: None,
        guards: Arc::new(Guards::builtin()),
        policies: Arc::new(policies),
        secret: Secret::new(b"bench"),
        clock,
        options: Options { single_flight: false, ..Options::default() },
    };
    CacheServiceClient::new(local(server(dependencies, 16 << 20)))
}

fn request(task_type: &str, number: usize) -> GenerateRequest {
    let text =
        |text: String, purpose: Purpose| Part { part: Some(part::Part::Text(text)), purpose: purpose.into() };
    let content = vec![
        text(
            "Write a headline of at most 60 characters for the article below, please.".into(),
            Purpose::Instruction,
        ),
        text(
            format!("Article {number}. {}", "It rained in Rome, and then it rained more. ".repeat(50)),
            Purpose::Content,
        ),
    ];
    GenerateRequest {
        request_id: number.to_string(),
        tenant_id: "acme".into(),
        task_type: task_type.into(),
        locale: "en-GB".into(),
        messages: vec![Message { role: Role::User.into(), content }],
        ..Default::default()
    }
}

fn context() -> Option<CacheContext> {
    Some(CacheContext { requested: "alias:fast".into(), ..Default::default() })
}

async fn look(client: &mut CacheServiceClient<Hop>, request: &GenerateRequest) -> Outcome {
    let lookup = LookupRequest { request: Some(request.clone()), context: context(), wait: None };
    let mut lookup = tonic::Request::new(lookup);
    lookup.set_timeout(Duration::from_millis(100));
    client.lookup(lookup).await.unwrap().into_inner().effect.unwrap().outcome()
}

async fn measure(
    name: &str,
    requests: &[GenerateRequest],
    expected: Outcome,
    client: &mut CacheServiceClient<Hop>,
) {
    let mut times = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let request = &requests[round % requests.len()];
        let began = Instant::now();
        let met = look(client, request).await;
        times.push(began.elapsed());
        assert_eq!(met, expected);
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{name:40} p50 {:>9.1?}  p99 {:>9.1?}", at(0.5), at(0.99));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut client = client();
    let kept: Vec<_> = (0..100).map(|number| request("plain", number)).collect();
    for request in &kept {
        let answer = CachedAnswer {
            content: vec![Part { part: Some(part::Part::Text("Rome: more rain".repeat(20))), purpose: 0 }],
            finish_reason: FinishReason::Stop.into(),
            cost: Some(Cost { nano_eur: 1_000, ..Default::default() }),
            ..Default::default()
        };
        let store = StoreRequest {
            request: Some(request.clone()),
            context: context(),
            answer: Some(answer),
            lookup_token: String::new(),
        };
        assert!(!client.store(store).await.unwrap().into_inner().entry_id.is_empty());
    }
    measure("exact hit", &kept, Outcome::ExactHit, &mut client).await;
    let new: Vec<_> = (1_000..1_100).map(|number| request("plain", number)).collect();
    measure("miss", &new, Outcome::Miss, &mut client).await;
    let near: Vec<_> = (1_000..1_100).map(|number| request("shadow", number)).collect();
    measure("miss, looked for by meaning", &near, Outcome::Miss, &mut client).await;
    let off: Vec<_> = (0..100).map(|number| request("off", number)).collect();
    measure("bypass: nothing is kept of the task", &off, Outcome::Bypass, &mut client).await;
    let hot = |number| GenerateRequest {
        sampling: Some(Sampling { temperature: Some(1.0), ..Default::default() }),
        ..request("plain", number)
    };
    let hot: Vec<_> = (0..100).map(hot).collect();
    measure("bypass: asks for variety", &hot, Outcome::Bypass, &mut client).await;
}
