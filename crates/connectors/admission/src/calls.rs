//! Calls to the budget service: bounded in time, counted, and with a memory of whether it answers.

use crate::metrics;
use signalbox_api::{status, v1, v1::budget_service_client::BudgetServiceClient};
use signalbox_kit::{Hop, hop};
use signalbox_types::{ErrorReason, Failure};
use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, timeout};
use tonic::{Code, Request, Response, Status, Streaming};

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the service is tried while it is away.
pub(crate) const TRY_EVERY: Duration = Duration::from_millis(250);

/// The budget service.
#[derive(Debug)]
pub(crate) struct Calls {
    client: BudgetServiceClient<Hop>,
    /// When it may be tried again, while it is away.
    away_until: Mutex<Option<Instant>>,
    /// It tells of changes, so it is there, whatever becomes of a call.
    in_touch: AtomicBool,
}

/// A call came to nothing.
#[derive(Debug, Clone)]
pub(crate) enum Refused {
    /// The service said no.
    No(Failure),
    /// The service is away, or cannot say.
    Away(Why),
}

/// What the service says that keeps it from answering, where it says anything.
pub(crate) type Why = Option<Arc<str>>;

impl Calls {
    pub(crate) fn new(hop: Hop) -> Self {
        Self {
            client: BudgetServiceClient::new(hop),
            away_until: Mutex::new(None),
            in_touch: AtomicBool::new(false),
        }
    }

    pub(crate) async fn resolve(
        &self,
        request: v1::ResolveApiKeyRequest,
    ) -> Result<v1::ResolveApiKeyResponse, Refused> {
        let ask = || {
            let (mut client, request) = (self.client.clone(), within(request.clone()));
            async move { client.resolve_api_key(request).await }
        };
        self.call_any("ResolveApiKey", ask).await
    }

    /// A replica that granted before it was lost does no harm: another one tells of the same grant again.
    pub(crate) async fn acquire(
        &self,
        request: v1::AcquireLeasesRequest,
    ) -> Result<v1::AcquireLeasesResponse, Refused> {
        let ask = || {
            let (mut client, request) = (self.client.clone(), within(request.clone()));
            async move { client.acquire_leases(request).await }
        };
        self.call_any("AcquireLeases", ask).await
    }

    pub(crate) async fn renew(
        &self,
        request: v1::RenewLeasesRequest,
    ) -> Result<v1::RenewLeasesResponse, Refused> {
        let mut client = self.client.clone();
        self.call("RenewLeases", client.renew_leases(within(request))).await
    }

    pub(crate) async fn give_back(&self, request: v1::ReturnLeasesRequest) -> Result<(), Refused> {
        let mut client = self.client.clone();
        self.call("ReturnLeases", client.return_leases(within(request))).await.map(|_| ())
    }

    /// Opens the stream of changes. It has no end in time.
    pub(crate) async fn watch(
        &self,
        request: v1::WatchAdmissionRequest,
    ) -> Result<Streaming<v1::WatchAdmissionResponse>, Refused> {
        let mut client = self.client.clone();
        self.call("WatchAdmission", client.watch_admission(request)).await
    }

    /// Whether it tells of changes.
    pub(crate) fn set_in_touch(&self, in_touch: bool) {
        self.in_touch.store(in_touch, Ordering::Relaxed);
    }

    pub(crate) fn is_in_touch(&self) -> bool {
        self.in_touch.load(Ordering::Relaxed)
    }

    /// Whether it did not answer the last time.
    pub(crate) fn is_away(&self) -> bool {
        self.lock().is_some()
    }

    /// Whether it is away and was tried so lately that trying again would only cost time.
    pub(crate) fn is_not_worth_trying(&self) -> bool {
        self.lock().is_some_and(|until| Instant::now() < until)
    }

    /// Calls once more where the service was there until now: the replica that was asked may just have gone, and another
    /// one answer. Where changes are not heard either, nobody waits twice for that.
    async fn call_any<T, F: Future<Output = Result<Response<T>, Status>>>(
        &self,
        method: &'static str,
        ask: impl Fn() -> F,
    ) -> Result<T, Refused> {
        let (was_away, start) = (self.is_away(), Instant::now());
        let answer = self.call(method, ask()).await;
        let gone = !was_away && start.elapsed() < PATIENCE - TRY_EVERY;
        if matches!(answer, Err(Refused::Away(_))) && (gone || self.is_in_touch()) {
            return self.call(method, ask()).await;
        }
        answer
    }

    async fn call<T>(
        &self,
        method: &'static str,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Refused> {
        metrics::called(method);
        let answer = timeout(PATIENCE, answer).await;
        let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer in time")));
        match answer {
            Ok(answer) => {
                self.found_here();
                Ok(answer.into_inner())
            }
            Err(status) if is_a_no(&status) => {
                self.found_here();
                Err(Refused::No(status::from_status(&status)))
            }
            Err(status) => {
                self.found_away(method, &status);
                Err(Refused::Away(said(&status)))
            }
        }
    }

    fn found_here(&self) {
        if self.lock().take().is_some() {
            tracing::info!("the budget service answers again");
            metrics::away(false);
        }
    }

    /// A call came to nothing. Of a service that is in touch this says something of the call only: what is behind the
    /// service may be away, or another replica of it.
    fn found_away(&self, method: &'static str, status: &Status) {
        if self.is_in_touch() {
            let (code, problem) = (status.code(), hop::cause(status));
            tracing::debug!(method, ?code, problem, "the budget service could not answer");
            return;
        }
        if self.lock().replace(Instant::now() + TRY_EVERY).is_none() {
            let (code, problem) = (status.code(), hop::cause(status));
            tracing::warn!(method, ?code, problem, "the budget service is away; leases held are spent");
            metrics::away(true);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.away_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn within<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}

/// Whether a status is the service's own answer, not a sign that it cannot give one.
fn is_a_no(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::InvalidArgument
            | Code::NotFound
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::ResourceExhausted
            | Code::FailedPrecondition
    )
}

/// What the service itself says is away. Where there is none, a status has no reason with it.
fn said(status: &Status) -> Why {
    let failure = status::from_status(status);
    let own = status.code() == Code::Unavailable && !status.details().is_empty();
    own.then(|| failure.message.trim_end_matches("; try again").into())
}

/// What a caller is told when nobody can say whether its request may be served.
pub(crate) fn away(why: &Why) -> Failure {
    let what = why.as_deref().unwrap_or("budget service away");
    let message = format!("{what}: whether this request may be served cannot be found out; try again");
    Failure { retry_after: Some(Duration::from_secs(1)), ..Failure::new(ErrorReason::Unavailable, message) }
}
