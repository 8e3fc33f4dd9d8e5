//! From a request to the first attempt at it, or to the answer that was given before.

use super::Router;
use crate::{
    account::Account,
    admission::{self, Admitted},
    attempts::Run,
    budget::Purse,
    cache::{self, Asker, Hit, Met},
    caller::Caller,
};
use signalbox_api::{
    status::{grpc_timeout, to_status},
    v1::{self, usage_event::Operation},
};
use signalbox_kit::{catalog::Catalog, content::Content, telemetry::trace::Span};
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Request, Status};

/// Where an answer comes from.
pub(super) enum Way {
    /// Vendors are asked for it.
    Asked(Box<Run>),
    /// It was given before.
    Known(Box<Hit>),
}

/// What a request comes with.
pub(super) struct Arrival<'a> {
    caller: Caller,
    /// What the transport's deadline leaves.
    grpc_timeout: Option<Duration>,
    /// Whether the answer is streamed.
    stream: bool,
    at: Instant,
    span: &'a Span,
}

impl<'a> Arrival<'a> {
    pub(super) fn of<T>(request: &Request<T>, stream: bool, at: Instant, span: &'a Span) -> Self {
        let grpc_timeout = grpc_timeout(request.metadata().as_ref());
        Self { caller: Caller::of(request), grpc_timeout, stream, at, span }
    }
}

/// A request that budgets and the tenant's content policy let in.
struct LetIn {
    admitted: Admitted,
    account: Account,
    /// Who pays; `None` where nothing is counted.
    purse: Option<Box<Purse>>,
    content: Option<Box<Content>>,
}

impl Router {
    /// Checks, applies the tenant's content policy, looks into the cache, plans, and is ready for the first attempt.
    pub(super) async fn begin(&self, wire: v1::GenerateRequest, arrival: Arrival<'_>) -> Result<Way, Status> {
        let catalog = self.dependencies.config.catalog();
        let let_in = self.let_in(wire, &catalog, &arrival).await?;
        let LetIn { mut admitted, mut account, purse, content } = let_in;
        let asker = Asker {
            is_sensitive: content.as_ref().is_some_and(|content| content.has_found()),
            pays_nothing: purse.as_ref().is_some_and(|purse| purse.pays_nothing()),
        };
        let mut keep = match cache::look(&self.dependencies, &catalog, &admitted, asker, &mut account).await {
            Met::Miss(keep) => keep,
            Met::Hit(answer) => {
                let hit = Hit::admit(&self.dependencies, purse.as_deref(), content, *answer, account);
                return hit.await.map(|hit| Way::Known(Box::new(hit)));
            }
        };
        if let Some(Err(failure)) = purse.as_ref().map(|purse| purse.allows_calls()) {
            return Err(account.refuse(to_status(&failure)));
        }
        let planned = Purse::plan_for(purse, &self.dependencies, &catalog, &mut admitted, &mut account).await;
        let planned = match planned {
            Ok(planned) => planned,
            Err(refused) => {
                account.planned(refused.decision.clone(), 0);
                return Err(account.refuse(refused.into_status(&admitted.request.request_id)));
            }
        };
        keep.iter_mut().for_each(|keep| keep.planned(&planned, &self.dependencies.drills));
        let hedges = arrival.stream.then_some(&self.hedges);
        let span = arrival.span.clone();
        let run = Run::new(&self.dependencies, &catalog, admitted, planned, account, span, hedges);
        Ok(Way::Asked(Box::new(run.under(content).keeping(keep))))
    }

    /// Reads and checks a request, opens its account, and asks budgets and the tenant's content policy.
    async fn let_in(
        &self,
        mut wire: v1::GenerateRequest,
        catalog: &Catalog,
        arrival: &Arrival<'_>,
    ) -> Result<LetIn, Status> {
        let Arrival { caller, grpc_timeout, stream, at, span } = arrival;
        caller.spends_as(&mut wire.tenant_id)?;
        admission::refuse_batch(&wire).map_err(|failure| to_status(&failure))?;
        let mut admitted = admission::admit(wire, caller.key_id(), *grpc_timeout, catalog, *at)
            .map_err(|failure| to_status(&failure))?;
        let operation = if *stream { Operation::StreamGenerate } else { Operation::Generate };
        let mut account = Account::of(&self.dependencies, &admitted, operation, *at, span);
        let opened = Purse::open(&self.dependencies, catalog, &mut admitted).await;
        account.in_locale(&admitted.request.locale);
        let looked = opened.and_then(|purse| account.looked_into(purse.as_deref()).map(|()| purse));
        let purse = match looked {
            Ok(purse) => purse,
            Err(failure) => return Err(account.refuse(to_status(&failure))),
        };
        match Content::admit(self.dependencies.means(), catalog, &mut admitted.request).await {
            Ok(content) => Ok(LetIn { admitted, account, purse, content }),
            Err(status) => Err(account.refuse(status)),
        }
    }
}
