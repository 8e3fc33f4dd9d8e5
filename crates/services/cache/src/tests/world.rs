//! A service over a store in memory, whose clock goes with the runtime's.

use crate::{CacheKeeping, Dependencies, HashedNgrams, Options, Policies};
use signalbox_api::v1::{
    self, CacheContext, CacheEffect, CachedAnswer, Cost, FinishReason, GenerateRequest, LookupRequest,
    LookupResponse, Message, Part, Purpose, Role, StoreRequest, StoreResponse, TokenUsage,
    cache_effect::Outcome, cache_service_server::CacheService, part,
};
use signalbox_cache_memory::MemoryCache;
use signalbox_caching::{Judge, Overrides, Secret, Semantic, TaskPolicy};
use signalbox_guards::Guards;
use signalbox_kit::Clock;
use signalbox_ports::cache::{CacheStore, Embedder, Verifier};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::Instant;
use tonic::Request;

/// Tokio's time as wall time.
#[derive(Debug)]
pub(super) struct Hands {
    began: Instant,
    forward: Mutex<Duration>,
}

impl Hands {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), forward: Mutex::default() }
    }

    pub(super) fn forward(&self, by: Duration) {
        *self.forward.lock().unwrap() += by;
    }
}

impl Clock for Hands {
    fn now(&self) -> SystemTime {
        let noon = UNIX_EPOCH + Duration::from_secs(1_796_040_000);
        noon + self.began.elapsed() + *self.forward.lock().unwrap()
    }
}

/// Policies that a test sets, by task.
#[derive(Debug, Default)]
pub(super) struct Set(Mutex<HashMap<String, Arc<TaskPolicy>>>);

impl Policies for Set {
    fn of(&self, _: &str, task_type: &str) -> Arc<TaskPolicy> {
        let set = self.0.lock().unwrap();
        set.get(task_type).cloned().unwrap_or_else(|| Arc::new(TaskPolicy::built_in(task_type)))
    }

    fn check_task_type(&self, task_type: &str) -> Result<(), String> {
        if task_type == "extraction" { Err("is not configured".to_owned()) } else { Ok(()) }
    }
}

/// The service and what it stands on.
pub(super) struct World {
    pub(super) service: Arc<CacheKeeping>,
    pub(super) store: Arc<dyn CacheStore>,
    pub(super) clock: Arc<Hands>,
    pub(super) policies: Arc<Set>,
    pub(super) dependencies: Dependencies,
}

impl World {
    pub(super) fn new() -> Self {
        let clock = Arc::new(Hands::new());
        let store = Arc::new(MemoryCache::new(64 << 20, clock.clone()));
        Self::over(store, clock, Arc::new(HashedNgrams), None)
    }

    pub(super) fn over(
        store: Arc<dyn CacheStore>,
        clock: Arc<Hands>,
        embedder: Arc<dyn Embedder>,
        verifier: Option<Arc<dyn Verifier>>,
    ) -> Self {
        let policies = Arc::new(Set::default());
        let dependencies = Dependencies {
            store: store.clone(),
            embedder,
            verifier,
            guards: Arc::new(Guards::builtin()),
            policies: policies.clone(),
            secret: Secret::new(b"a secret of tests"),
            clock: clock.clone(),
            options: Options::default(),
        };
        let service = Arc::new(CacheKeeping::new(dependencies.clone()));
        Self { service, store, clock, policies, dependencies }
    }

    /// Another replica over the same store.
    pub(super) fn replica(&self) -> Self {
        Self {
            service: Arc::new(CacheKeeping::new(self.dependencies.clone())),
            store: self.store.clone(),
            clock: self.clock.clone(),
            policies: self.policies.clone(),
            dependencies: self.dependencies.clone(),
        }
    }

    /// The same with other options.
    pub(super) fn with_options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.dependencies.options);
        self.replica()
    }

    /// Matches a task by meaning.
    pub(super) fn by_meaning(&self, task_type: &str, semantic: Semantic) {
        self.set(
            task_type,
            Overrides {
                normalized: Some(true),
                semantic: Some(semantic),
                floor: Some(0.5),
                judge: Some(Judge::Label),
                ..Overrides::default()
            },
        );
    }

    /// Matches a task whatever the typesetting.
    pub(super) fn normalized(&self, task_type: &str) {
        self.set(task_type, Overrides { normalized: Some(true), ..Overrides::default() });
    }

    pub(super) fn set(&self, task_type: &str, overrides: Overrides) {
        let policy = TaskPolicy::of(task_type, [&overrides]);
        self.policies.0.lock().unwrap().insert(task_type.to_owned(), Arc::new(policy));
    }

    pub(super) async fn ask(&self, request: &GenerateRequest) -> LookupResponse {
        self.ask_waiting(request, Duration::ZERO).await
    }

    pub(super) async fn ask_waiting(&self, request: &GenerateRequest, wait: Duration) -> LookupResponse {
        let wait = (!wait.is_zero()).then(|| signalbox_api::convert::duration_to_proto(wait));
        let lookup = LookupRequest { request: Some(request.clone()), context: Some(context(request)), wait };
        self.service.lookup(Request::new(lookup)).await.unwrap().into_inner()
    }

    pub(super) async fn keep(&self, request: &GenerateRequest, text: &str, token: &str) -> StoreResponse {
        self.keep_answer(request, answer(text), token).await
    }

    pub(super) async fn keep_answer(
        &self,
        request: &GenerateRequest,
        answer: CachedAnswer,
        token: &str,
    ) -> StoreResponse {
        let store = StoreRequest {
            request: Some(request.clone()),
            context: Some(context(request)),
            answer: Some(answer),
            lookup_token: token.to_owned(),
        };
        self.service.store(Request::new(store)).await.unwrap().into_inner()
    }

    /// Looks up, and stores `text` where there is nothing. What the lookup said.
    pub(super) async fn go(&self, request: &GenerateRequest, text: &str) -> LookupResponse {
        let looked = self.ask(request).await;
        if looked.answer.is_none() {
            self.keep(request, text, &looked.lookup_token).await;
        }
        looked
    }

    pub(super) async fn invalidate(
        &self,
        scope: v1::invalidate_request::Scope,
        wait: bool,
        erase: bool,
    ) -> v1::InvalidateResponse {
        let request = v1::InvalidateRequest { tenant_id: "acme".into(), wait, erase, scope: Some(scope) };
        self.service.invalidate(Request::new(request)).await.unwrap().into_inner()
    }
}

pub(super) fn context(request: &GenerateRequest) -> CacheContext {
    CacheContext {
        requested: "alias:fast".into(),
        prompt_template: request.prompt_template.clone(),
        policy_version: "1".into(),
    }
}

/// A request of `acme` in English, of the task `classify`.
pub(super) fn request(instruction: &str, content: &str) -> GenerateRequest {
    GenerateRequest {
        request_id: format!("{instruction}|{content}"),
        tenant_id: "acme".into(),
        task_type: "classify".into(),
        locale: "en-GB".into(),
        messages: vec![Message {
            role: Role::User.into(),
            content: vec![part_of(instruction, Purpose::Instruction), part_of(content, Purpose::Content)],
        }],
        ..Default::default()
    }
}

fn part_of(text: &str, purpose: Purpose) -> Part {
    Part { part: Some(part::Part::Text(text.into())), purpose: purpose.into() }
}

pub(super) fn answer(text: &str) -> CachedAnswer {
    CachedAnswer {
        content: vec![part_of(text, Purpose::Unspecified)],
        finish_reason: FinishReason::Stop.into(),
        usage: Some(TokenUsage {
            input_tokens: 100,
            output_tokens: 10,
            source: v1::token_usage::Source::Vendor.into(),
            ..Default::default()
        }),
        cost: Some(Cost { nano_eur: 5_000, ..Default::default() }),
        latency: Some(signalbox_api::convert::duration_to_proto(Duration::from_secs(2))),
        vendor: "openai".into(),
        model: "small".into(),
        ..Default::default()
    }
}

/// How a request met the cache, why, and what it was told.
pub(super) fn met(looked: &LookupResponse) -> (Outcome, &str, Option<String>) {
    let effect = effect(looked);
    let text = looked.answer.as_ref().map(crate::kept::text);
    (effect.outcome(), &effect.reason, text)
}

pub(super) fn effect(looked: &LookupResponse) -> &CacheEffect {
    looked.effect.as_ref().unwrap()
}
