//! Asks the budget service for leases: one question at a time for each payer, for all that wait for it.

use crate::{
    calls::{Refused, TRY_EVERY, Why},
    desk::{Asked, Desk, State},
    replica::Inner,
    upkeep,
    views::{Memory, Need},
};
use signalbox_api::v1;
use signalbox_ports::Payer;
use signalbox_types::{ErrorReason, Failure};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// How long others have to give back what is idle, after they were called to.
const RECALL: Duration = Duration::from_millis(300);
/// How long nobody waits for that again when it did not help.
const HOPELESS: Duration = Duration::from_secs(2);
/// The longest that a refusal is remembered.
const MEMORY: Duration = Duration::from_millis(200);

/// What was needed was not had.
#[derive(Debug, Clone)]
pub(crate) struct Unmet {
    pub(crate) need: Need,
    pub(crate) why: Refused,
}

/// A question.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ask {
    /// What is lacking.
    pub(crate) need: Need,
    /// All that the request wants of each budget, if nothing of it were here.
    pub(crate) full: i64,
    /// Only how the budgets stand.
    pub(crate) news: bool,
}

/// A request that waits: what it needs counts for as long as this lives, so that whoever asks asks for all.
#[derive(Debug)]
pub(crate) struct Waiter<'a> {
    desk: &'a Desk,
    payer: &'a Payer,
    need: Need,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(desk: &'a Desk, payer: &'a Payer) -> Self {
        Self { desk, payer, need: Need::default() }
    }

    /// It needs this by now.
    pub(crate) fn needs(&mut self, need: Need) {
        let mut state = self.desk.lock();
        let falls = state.falls(self.payer);
        falls.waiting = falls.waiting.minus(self.need).plus(need);
        self.need = need;
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.needs(Need::default());
    }
}

impl Inner {
    /// Waits until the payer's leases may cover `ask`. Others may be quicker to spend them: look again.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        payer: &Payer,
        ask: Ask,
    ) -> Result<(), Unmet> {
        let away = |why| Unmet { need: ask.need, why: Refused::Away(why) };
        if self.calls.is_not_worth_trying() {
            return Err(away(None));
        }
        if let Some(why) = desk.lock().unanswered() {
            return Err(away(why));
        }
        let (lead, follow) = desk.asking.join(payer);
        if let Some(lead) = lead {
            let (inner, desk, payer) = (self.clone(), desk.clone(), payer.clone());
            // Of its own, as whoever asked first may go away while others wait for what is granted.
            tokio::spawn(async move { lead.tell(inner.answer(&desk, &payer, ask).await) });
        }
        follow.answer().await.unwrap_or_else(|| Err(away(None)))
    }

    async fn answer(&self, desk: &Arc<Desk>, payer: &Payer, ask: Ask) -> Result<(), Unmet> {
        let answer = match ask.news {
            true => self.hear_of(desk, payer).await,
            false => self.acquire(desk, payer, ask).await,
        };
        if let Err(Refused::No(failure)) = &answer {
            desk.lock().remember(payer, ask.need, failure);
        }
        answer.map_err(|why| Unmet { need: ask.need, why })
    }

    /// For all that wait; if that is too much, for this one.
    async fn acquire(&self, desk: &Arc<Desk>, payer: &Payer, ask: Ask) -> Result<(), Refused> {
        let mut need = desk.lock().need_of_all(payer, ask.need, self.settings.slices.max);
        let mut answer = self.grant(desk, payer, need).await;
        while let Err(Refused::No(failure)) = &answer
            && need != ask.need
        {
            // As much as the service says there is, and then no more than this one needs.
            let there_is = need.up_to(available(failure).unwrap_or_default(), ask.need);
            need = if there_is == need { ask.need } else { there_is };
            answer = self.grant(desk, payer, need).await;
        }
        if ask.full > 0 && is_exhausted(&answer) && !desk.lock().is_hopeless(payer) {
            sleep(RECALL).await;
            // This replica was called to give back what is idle, too.
            let need = Need { cost: desk.lock().lack(payer, ask.full), ..ask.need };
            answer = self.grant(desk, payer, need).await;
            if is_exhausted(&answer) {
                desk.lock().falls(payer).hopeless_until = Some(Instant::now() + HOPELESS);
                // What is planned next must know how the budgets stand.
                self.hear_of(desk, payer).await?;
            }
        }
        answer
    }

    /// How the budgets stand that are leased from.
    async fn hear_of(&self, desk: &Arc<Desk>, payer: &Payer) -> Result<(), Refused> {
        let ids = desk.lock().leases();
        if ids.is_empty() {
            return self.grant(desk, payer, Need::default()).await;
        }
        upkeep::renew_batch(self, vec![(desk.clone(), ids)]).await
    }

    async fn grant(&self, desk: &Desk, payer: &Payer, need: Need) -> Result<(), Refused> {
        let (asked, rate_uses) = {
            let state = desk.lock();
            (state.asked(self.clock.now(), self.heard.replicas()), state.rate_uses(payer))
        };
        let request = v1::AcquireLeasesRequest {
            replica_id: self.replica_id.clone(),
            grant_id: Uuid::now_v7().to_string(),
            tenant_id: payer.tenant_id.clone(),
            key_id: payer.key_id.clone(),
            scene: payer.scene.clone(),
            needed_nano_eur: need.cost,
            needed_tokens: need.tokens,
            rate_uses,
        };
        let answer = self.calls.acquire(request).await;
        let mut state = desk.lock();
        if let Err(Refused::Away(why)) = &answer {
            state.unanswered_until = Some((Instant::now() + TRY_EVERY, why.clone()));
        }
        let answer = answer?;
        state.granted(payer, answer, asked);
        if !self.heard.is_open() {
            state.falls(payer).stale = true;
        }
        Ok(())
    }
}

impl State {
    /// Why its last question came to nothing, where that was just now.
    fn unanswered(&self) -> Option<Why> {
        let (until, why) = self.unanswered_until.as_ref()?;
        (Instant::now() < *until).then(|| why.clone())
    }

    fn rate_uses(&self, payer: &Payer) -> Vec<v1::RateUse> {
        self.payers.get(payer).map(|falls| self.rates.uses(&falls.rates)).unwrap_or_default()
    }

    pub(crate) fn asked(&self, wall: SystemTime, replicas: u32) -> Asked {
        Asked { at: Instant::now(), wall, replicas, heard: self.heard }
    }

    /// What all need that wait, but not more than `most` and what is left, as far as that is known.
    fn need_of_all(&mut self, payer: &Payer, own: Need, most: i64) -> Need {
        let all = self.falls(payer).waiting.minus(own).plus(own);
        let falls = self.payers.get(payer);
        let budgets = falls.map(|falls| falls.budgets.as_slice()).unwrap_or_default();
        let free =
            |id: &Arc<str>| self.budgets.get(id).filter(|budget| budget.hard).map(|budget| budget.free);
        let free = budgets.iter().filter_map(free).min().unwrap_or(most);
        all.up_to(free.min(most), own)
    }

    /// What is lacking of an amount in the budget that has least.
    fn lack(&self, payer: &Payer, full: i64) -> i64 {
        let now = Instant::now().into_std();
        let idle = |id: &Arc<str>| self.wallet.idle(id, now).unwrap_or_default().nano_eur();
        let budgets = self.payers.get(payer).map(|falls| falls.budgets.as_slice()).unwrap_or_default();
        full.saturating_sub(budgets.iter().map(idle).min().unwrap_or_default()).max(0)
    }

    fn leases(&self) -> Vec<String> {
        self.wallet.to_renew(Duration::MAX, Instant::now().into_std()).map(|id| id.to_string()).collect()
    }

    fn is_hopeless(&mut self, payer: &Payer) -> bool {
        self.falls(payer).hopeless_until.is_some_and(|until| Instant::now() < until)
    }

    fn remember(&mut self, payer: &Payer, need: Need, failure: &Failure) {
        let time = failure.retry_after.unwrap_or(MEMORY).min(MEMORY);
        let memory = Memory { need, failure: failure.clone(), until: Instant::now() + time };
        self.falls(payer).refused = Some(memory);
    }
}

/// What the service says that it could grant.
pub(crate) fn available(failure: &Failure) -> Option<i64> {
    failure.quota.as_ref()?.left.get("available_nano_eur")?.parse().ok()
}

fn is_exhausted(answer: &Result<(), Refused>) -> bool {
    matches!(answer, Err(Refused::No(failure)) if failure.reason == ErrorReason::BudgetExhausted)
}
