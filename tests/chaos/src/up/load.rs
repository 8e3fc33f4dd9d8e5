//! A steady load of calls and streams, and what became of it.

use super::{caller::Caller, operator::Operator};
use signalbox_api::v1::GenerateRequest;
use signalbox_local::Stack;
use signalbox_testkit::ask::{Mode, request};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

/// How long may pass without progress.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What became of requests, by their ids.
#[derive(Debug, Default)]
struct Seen {
    answered: BTreeSet<String>,
    lost: BTreeMap<String, String>,
    by_vendor: BTreeMap<String, usize>,
}

/// What became of a load.
#[derive(Debug)]
pub struct Verdict {
    /// Requests that were answered.
    pub answered: usize,
    /// Those that were not, with what they were told.
    pub lost: BTreeMap<String, String>,
    /// Of these, those that have a row.
    pub lost_with_row: usize,
    /// What is wrong with the rows.
    pub problems: Vec<String>,
}

/// A load under way.
#[derive(Debug)]
pub struct Load {
    tenant: String,
    seen: Arc<Mutex<Seen>>,
    stopped: Arc<AtomicBool>,
    clients: JoinSet<()>,
}

impl Load {
    /// So many clients from now on, each of which asks one request after the other, as a tenant that nobody else is.
    ///
    /// # Errors
    /// There is no tenant.
    pub async fn start(stack: &Stack, tenant: &str, clients: usize) -> Result<Self, String> {
        let caller = Caller::new(stack, &Operator(stack).key(tenant).await?)?;
        let (seen, stopped) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let mut tasks = JoinSet::new();
        for client in 0..clients {
            let client =
                Client { caller: caller.clone(), name: format!("{tenant}-{client}"), seen: seen.clone() };
            tasks.spawn(client.ask_until(stopped.clone()));
        }
        Ok(Self { tenant: tenant.to_owned(), seen, stopped, clients: tasks })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    /// Requests that were answered so far.
    pub fn answered(&self) -> usize {
        self.seen().answered.len()
    }

    /// Requests that were lost so far.
    pub fn lost(&self) -> usize {
        self.seen().lost.len()
    }

    /// The vendor that has given most answers.
    pub fn busiest(&self) -> String {
        let seen = self.seen();
        let busiest = seen.by_vendor.iter().max_by_key(|(_, answers)| **answers);
        busiest.map(|(vendor, _)| vendor.clone()).unwrap_or_default()
    }

    /// Waits until so many requests were answered in all.
    ///
    /// # Errors
    /// That takes too long.
    pub async fn reaches(&self, answered: usize) -> Result<(), String> {
        let (mut before, mut moved) = (self.answered(), Instant::now());
        while before < answered {
            sleep(LOOK_EVERY).await;
            let now = self.answered();
            if now > before {
                (before, moved) = (now, Instant::now());
            }
            if moved.elapsed() > PATIENCE {
                return Err(format!(
                    "nobody was answered for {} s: {:?}",
                    PATIENCE.as_secs(),
                    self.seen().lost
                ));
            }
        }
        Ok(())
    }

    /// Asks no more, waits for the answers and for their rows, and looks at these.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub async fn stop(mut self, stack: &Stack) -> Result<Verdict, String> {
        self.stopped.store(true, Ordering::Relaxed);
        while self.clients.join_next().await.is_some() {}
        let seen = std::mem::take(&mut *self.seen());
        let query = format!("SELECT request_id FROM usage_events WHERE tenant_id = '{}'", self.tenant);
        let end = Instant::now() + PATIENCE;
        loop {
            let rows = Operator(stack).sql(&query).await?;
            let all: BTreeSet<&String> = rows.iter().collect();
            if seen.answered.iter().all(|id| all.contains(id)) || Instant::now() > end {
                return Ok(seen.judged(&rows));
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    fn judged(self, rows: &[String]) -> Verdict {
        let all: BTreeSet<&String> = rows.iter().collect();
        let missing = self.answered.iter().filter(|id| !all.contains(id));
        let unasked = all.iter().filter(|id| !self.answered.contains(**id) && !self.lost.contains_key(**id));
        let mut problems: Vec<String> =
            missing.map(|id| format!("{id} was answered and has no row")).collect();
        problems.extend(unasked.map(|id| format!("{id} has a row and was not asked")));
        if all.len() < rows.len() {
            problems.push(format!("{} rows of {} requests", rows.len(), all.len()));
        }
        let lost_with_row = self.lost.keys().filter(|id| all.contains(id)).count();
        Verdict { answered: self.answered.len(), lost: self.lost, lost_with_row, problems }
    }
}

struct Client {
    caller: Caller,
    name: String,
    seen: Arc<Mutex<Seen>>,
}

impl Client {
    /// Asks one request after the other, a call and a stream in turn.
    async fn ask_until(self, stopped: Arc<AtomicBool>) {
        for (number, mode) in Mode::ALL.into_iter().cycle().enumerate() {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let id = format!("{}-{number}", self.name);
            // Each with words of its own, so that none is answered from the cache.
            let asked =
                GenerateRequest { request_id: id.clone(), ..request("fast", &format!("Number {id}?")) };
            let answer = self.caller.ask(mode, &asked).await;
            let mut seen = lock(&self.seen);
            match answer {
                Ok(answer) => {
                    *seen.by_vendor.entry(answer.route.vendor).or_default() += 1;
                    seen.answered.insert(id);
                }
                Err(status) => {
                    let told = format!("{mode:?} {:?}: {}", status.code(), status.message());
                    seen.lost.insert(id, told);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_and_what_is_there_twice_is_told() {
        let text = |id: &str| id.to_owned();
        let seen = || Seen {
            answered: ["a", "b"].map(text).into(),
            lost: [("c", "away"), ("d", "away")].map(|(id, told)| (text(id), text(told))).into(),
            ..Seen::default()
        };
        let good = seen().judged(&["b", "a", "d"].map(text));
        assert_eq!((good.answered, good.lost.len(), good.lost_with_row), (2, 2, 1));
        assert_eq!(good.problems, [] as [&str; 0]);
        let bad = seen().judged(&["a", "a", "x"].map(text));
        let expected =
            ["b was answered and has no row", "x has a row and was not asked", "3 rows of 2 requests"];
        assert_eq!(bad.problems, expected);
    }
}
