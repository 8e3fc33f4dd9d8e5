//! Is there an answer?

mod told;

use crate::{
    cache::{Cache, Flown, Found, Patience},
    gate::Missed,
    near::{Nearby, NotSearched},
    options::Options,
    question::{Kind, Question},
    token::{NearHit, Token},
};
use signalbox_api::{
    convert::duration_from_proto,
    v1::{self, cache_effect::Outcome},
};
use signalbox_caching::{Semantic, may_look_up};
use signalbox_kit::lag;
use signalbox_ports::cache::Epochs;
use signalbox_types::Failure;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// An answer must be on its way so much before its time is over; of a short time it is a third at most.
const HEAD_START: Duration = Duration::from_millis(3);

/// Until when what may take.
#[derive(Debug, Clone, Copy)]
struct Times {
    started: Instant,
    exact: Instant,
    semantic: Instant,
    /// When the caller must have been answered, if it said so.
    end: Option<Instant>,
}

impl Times {
    fn of(timeout: Option<Duration>, options: &Options) -> Self {
        let started = Instant::now();
        let most = |budget: Duration| started + usable(timeout.map_or(budget, |timeout| timeout.min(budget)));
        Self {
            started,
            exact: most(options.exact_budget),
            semantic: most(options.semantic_budget),
            end: timeout.and_then(|timeout| started.checked_add(usable(timeout))),
        }
    }
}

/// What is left of a time once the way back is paid for.
fn usable(time: Duration) -> Duration {
    time - HEAD_START.min(time / 3)
}

/// What looking gave.
enum Looked {
    Hit { outcome: Outcome, found: Box<Found>, similarity: Option<f32> },
    Miss(Miss),
}

/// Nothing to serve.
#[derive(Default)]
struct Miss {
    reason: Option<&'static str>,
    near: Option<NearHit>,
    /// As they were when the answer was looked for; `None` where the store did not say.
    epochs: Option<Epochs>,
    /// The store answers, and may be asked more.
    store_is_well: bool,
}

impl Cache {
    /// Answers a request, or says why there is no answer.
    pub(crate) async fn lookup(
        self: &Arc<Self>,
        request: v1::LookupRequest,
        timeout: Option<Duration>,
    ) -> Result<v1::LookupResponse, Failure> {
        let times = Times::of(timeout, &self.dependencies.options);
        let wait = request.wait.map(|wait| duration_from_proto(wait).unwrap_or_default());
        let task_type = request.request.as_ref().map(|request| request.task_type.clone()).unwrap_or_default();
        let tenant_id = request.request.as_ref().map(|request| request.tenant_id.clone()).unwrap_or_default();
        let question = match self.read(request.request, request.context)? {
            Kind::Bypass(reason) => Err(reason),
            Kind::Asked(asked) => self.question(&asked, may_look_up),
        };
        let question = match question {
            Ok(question) => Arc::new(question),
            Err(reason) => return Ok(self.bypassed(&tenant_id, &task_type, reason)),
        };
        match self.look(&question, times).await {
            Looked::Hit { outcome, found, similarity } => {
                Ok(self.hit(&question, outcome, &found, similarity, times.started))
            }
            Looked::Miss(miss) => Ok(self.wait_or_miss(&question, miss, wait, times).await),
        }
    }

    /// Looks in the store, as far as the time goes.
    async fn look(&self, question: &Question, times: Times) -> Looked {
        let (found, epochs) = match self.gate.ask(times.exact, self.equal(question)).await {
            Ok(found) => found,
            Err(missed) => {
                let reason = if missed == Missed::Timeout { "timeout" } else { "store" };
                return Looked::Miss(Miss { reason: Some(reason), ..Miss::default() });
            }
        };
        if let Some((outcome, found)) = found {
            return Looked::Hit { outcome, found: Box::new(found), similarity: None };
        }
        let mut miss = Miss { epochs: Some(epochs), store_is_well: true, ..Miss::default() };
        if question.allowed.semantic == Semantic::Off {
            return Looked::Miss(miss);
        }
        match lag::until(times.semantic, self.nearby(question)).await {
            Ok(Ok(Nearby::Hit(found, similarity))) => {
                return Looked::Hit { outcome: Outcome::SemanticHit, found, similarity: Some(similarity) };
            }
            Ok(Ok(Nearby::Miss(reason, near))) => (miss.reason, miss.near) = (reason, near),
            Ok(Err(NotSearched::Embedder)) => miss.reason = Some("embedder"),
            Ok(Err(NotSearched::Store)) => miss.reason = Some("store"),
            Err(_) => miss.reason = Some("timeout"),
        }
        Looked::Miss(miss)
    }

    /// Waits for an identical request under way, or leads, or neither.
    async fn wait_or_miss(
        self: &Arc<Self>,
        question: &Arc<Question>,
        miss: Miss,
        wait: Option<Duration>,
        times: Times,
    ) -> v1::LookupResponse {
        // Without the store nobody hears which process has the answer.
        if !self.dependencies.options.single_flight || !miss.store_is_well {
            return self.missed(question, miss, None, false);
        }
        let wait = wait.filter(|wait| !wait.is_zero()).and_then(|wait| times.started.checked_add(wait));
        let leader = wait.map(|wait| times.end.map_or(wait, |end| end.min(wait)));
        let by_meaning = question.allowed.semantic != Semantic::Off;
        let until = if by_meaning { times.semantic } else { times.exact };
        let patience = Patience { store: until, leader };
        match self.fly(question, patience).await {
            Flown::Landed(landed) => self.coalesced(question, &landed, times.started),
            Flown::Stored(outcome, found) => self.hit(question, outcome, &found, None, times.started),
            Flown::Leads(lead) => self.missed(question, miss, Some(lead.handed_over()), false),
            Flown::Alone { under_way } => self.missed(question, miss, None, under_way),
        }
    }

    /// What the store of the answer is to know of this lookup.
    fn token(question: &Question, miss: &Miss, owner: Option<String>) -> String {
        let mut token = Token::new(&question.tenant, question.keys.exact, miss.epochs.as_ref());
        token.owner = owner.unwrap_or_default();
        token.near = miss.near;
        token.sealed(&question.tenant)
    }
}
