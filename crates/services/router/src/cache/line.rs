//! Identical requests under way in this router: one leads, asks the cache and then a model, and the others wait for what
//! comes of it, whatever the cache does. So a crowd makes one lookup, which has its time for itself.
//!
//! A leader that leaves before it has looked hands on to one of those who wait. Where it fails or leaves later nobody takes
//! over: all who wait go on at once, each by itself.

use super::context::Asked;
use crate::admission::Admitted;
use signalbox_api::v1::{CacheEffect, CachedAnswer};
use signalbox_caching::{Canonical, Digest, Secret};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// How far the leader is; closed when it goes.
#[derive(Debug, Clone)]
enum News {
    /// It asks the cache.
    Looks,
    /// The cache has nothing for all: it goes on by itself.
    GoesOn,
    /// Here is what came of it.
    Has(Arc<Shared>),
}

/// An answer for all in a line.
#[derive(Debug, PartialEq)]
pub(super) struct Shared {
    pub(super) answer: CachedAnswer,
    /// What the cache said of it; nothing where a model has just given it.
    pub(super) effect: Option<CacheEffect>,
}

/// What comes of following.
#[derive(Debug, PartialEq)]
pub(super) enum Followed {
    Answered(Arc<Shared>),
    /// The leader is gone and has not looked: somebody has to.
    HandedOn,
    /// Everybody goes on alone.
    Alone,
}

/// What is asked, and whether for exact answers only.
type Key = (Digest, bool);

/// Those that can be joined. Clones share them.
#[derive(Debug, Clone, Default)]
struct Open(Arc<Mutex<HashMap<Key, watch::Receiver<News>>>>);

/// All lines.
#[derive(Debug)]
pub(super) struct Lines {
    /// Of this process alone: it only makes short keys of long requests.
    secret: Secret,
    open: Open,
}

/// How a request joined.
#[derive(Debug)]
pub(super) enum Joined {
    Leads(Lead),
    Follows(Follower),
}

/// The lead of a line. Dropped, it lets all go on.
#[derive(Debug)]
pub(super) struct Lead {
    open: Open,
    key: Key,
    news: watch::Sender<News>,
    is_open: bool,
}

/// A place in a line.
#[derive(Debug)]
pub(super) struct Follower(watch::Receiver<News>);

impl Lines {
    pub(super) fn new() -> Self {
        Self { secret: Secret::new(&rand::random::<[u8; 32]>()), open: Open::default() }
    }

    /// Joins those that ask the same, in the same way: who takes exact answers only must not wait for one by meaning, and
    /// who takes any must not miss it.
    pub(super) fn join(&self, admitted: &Admitted, asked: &Asked, exact_only: bool) -> Joined {
        let canonical = Canonical::of(&admitted.request, &asked.words());
        let keys = self.secret.tenant(&admitted.request.tenant_id).keys(&admitted.request, &canonical);
        self.join_at((keys.exact, exact_only))
    }

    fn join_at(&self, key: Key) -> Joined {
        match self.open.locked().entry(key) {
            Entry::Occupied(occupied) => Joined::Follows(Follower(occupied.get().clone())),
            Entry::Vacant(vacant) => {
                let (news, heard) = watch::channel(News::Looks);
                vacant.insert(heard);
                Joined::Leads(Lead { open: self.open.clone(), key, news, is_open: true })
            }
        }
    }
}

impl Open {
    fn locked(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<News>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lead {
    /// The answer is there, and it is yet to be seen whether it may be shared: who comes from now on does not wait for
    /// that, and leads a line of its own.
    pub(super) fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.open.locked().remove(&self.key);
        }
    }

    /// It was found, and is there for all who wait.
    pub(super) fn found(self, answer: CachedAnswer, effect: CacheEffect) {
        self.news.send_replace(News::Has(Arc::new(Shared { answer, effect: Some(effect) })));
    }

    /// The cache has nothing for all: should the leader leave from now on, nobody takes over.
    pub(super) fn goes_on(&self) {
        self.news.send_replace(News::GoesOn);
    }

    /// Here is a model's answer, for all who wait.
    pub(super) fn land(self, answer: CachedAnswer) {
        self.news.send_replace(News::Has(Arc::new(Shared { answer, effect: None })));
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // Those who wait hear of it once `news` is gone.
        self.close();
    }
}

impl Follower {
    /// What comes of it until then.
    pub(super) async fn until(mut self, end: Instant) -> Followed {
        let has = |news: &News| matches!(news, News::Has(_));
        // Whoever waits in vain goes on alone; where the leader is gone, its last word counts.
        let Ok(heard) = timeout_at(end, self.0.wait_for(has)).await else { return Followed::Alone };
        drop(heard);
        match &*self.0.borrow() {
            News::Has(shared) => Followed::Answered(shared.clone()),
            News::Looks => Followed::HandedOn,
            News::GoesOn => Followed::Alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const WAIT: Duration = Duration::from_secs(10);
    const KEY: Key = (Digest([1; 16]), false);

    fn pair(lines: &Lines) -> (Lead, Follower) {
        match [lines.join_at(KEY), lines.join_at(KEY)] {
            [Joined::Leads(lead), Joined::Follows(follower)] => (lead, follower),
            other => panic!("{other:?}"),
        }
    }

    fn answer() -> CachedAnswer {
        CachedAnswer { model: "m1".to_owned(), ..Default::default() }
    }

    async fn told(follower: Follower) -> Followed {
        follower.until(Instant::now() + WAIT).await
    }

    #[tokio::test(start_paused = true)]
    async fn who_follows_has_the_leaders_answer_wherever_it_comes_from() {
        let lines = Lines::new();
        let shared = |effect| Followed::Answered(Arc::new(Shared { answer: answer(), effect }));
        let (lead, follower) = pair(&lines);
        lead.goes_on();
        lead.land(answer());
        assert_eq!(told(follower).await, shared(None));

        let (lead, follower) = pair(&lines);
        let effect = CacheEffect { entry_id: "e1".to_owned(), ..Default::default() };
        lead.found(answer(), effect.clone());
        assert_eq!(told(follower).await, shared(Some(effect)));

        let (mut lead, follower) = pair(&lines);
        lead.close();
        let (next, _) = pair(&lines);
        lead.land(answer());
        assert_eq!(told(follower).await, shared(None));
        assert!(matches!(lines.join_at(KEY), Joined::Follows(_)), "the next line is still there");
        drop(next);
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_that_leaves_hands_on_until_it_has_looked_and_then_all_go_on_alone() {
        let lines = Lines::new();
        let began = Instant::now();
        let (lead, follower) = pair(&lines);
        drop(lead);
        assert_eq!(told(follower).await, Followed::HandedOn);
        assert!(matches!(lines.join_at(KEY), Joined::Leads(_)), "who comes first takes over");

        let (lead, follower) = pair(&lines);
        lead.goes_on();
        drop(lead);
        assert_eq!((told(follower).await, began.elapsed()), (Followed::Alone, Duration::ZERO));

        let (_lead, follower) = pair(&lines);
        assert_eq!((told(follower).await, began.elapsed()), (Followed::Alone, WAIT));
    }

    #[test]
    fn who_takes_exact_answers_only_stands_in_a_line_of_its_own() {
        let lines = Lines::new();
        let (_lead, _) = pair(&lines);
        assert!(matches!(lines.join_at((KEY.0, true)), Joined::Leads(_)));
    }
}
