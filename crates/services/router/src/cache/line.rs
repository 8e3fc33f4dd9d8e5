//! Identical requests under way in this router: one leads, and the others wait for its answer, whatever the cache does.
//!
//! Nobody takes over where the leader fails or leaves: all who wait go on at once, each by itself.

use super::context::Asked;
use crate::admission::Admitted;
use signalbox_api::v1::CachedAnswer;
use signalbox_caching::{Canonical, Digest, Secret};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// Nothing until the leader has an answer; closed when it goes.
type News = Option<Arc<CachedAnswer>>;

/// All lines. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    /// Of this process alone: it only makes short keys of long requests.
    secret: Secret,
    open: Arc<Mutex<HashMap<Digest, watch::Receiver<News>>>>,
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
    lines: Lines,
    key: Digest,
    news: watch::Sender<News>,
    is_open: bool,
}

/// A place in a line.
#[derive(Debug)]
pub(super) struct Follower(watch::Receiver<News>);

impl Lines {
    pub(super) fn new() -> Self {
        Self { secret: Secret::new(&rand::random::<[u8; 32]>()), open: Arc::default() }
    }

    /// Joins those that ask the same.
    pub(super) fn join(&self, admitted: &Admitted, asked: &Asked) -> Joined {
        let canonical = Canonical::of(&admitted.request, &asked.words());
        let keys = self.secret.tenant(&admitted.request.tenant_id).keys(&admitted.request, &canonical);
        self.join_at(keys.exact)
    }

    fn join_at(&self, key: Digest) -> Joined {
        match self.locked().entry(key) {
            Entry::Occupied(occupied) => Joined::Follows(Follower(occupied.get().clone())),
            Entry::Vacant(vacant) => {
                let (news, heard) = watch::channel(None);
                vacant.insert(heard);
                Joined::Leads(Lead { lines: self.clone(), key, news, is_open: true })
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Digest, watch::Receiver<News>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lead {
    /// The answer is there, and it is yet to be seen whether it may be shared: who comes from now on does not wait for
    /// that, and leads a line of its own.
    pub(super) fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.lines.locked().remove(&self.key);
        }
    }

    /// Here is the answer, for all who wait.
    pub(super) fn land(self, answer: CachedAnswer) {
        self.news.send_replace(Some(Arc::new(answer)));
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // Those who wait hear of it once `news` is gone.
        self.close();
    }
}

impl Follower {
    /// The leader's answer, if there is one to share in time.
    pub(super) async fn answer(mut self, wait: Duration) -> Option<Arc<CachedAnswer>> {
        let news = timeout(wait, self.0.wait_for(Option::is_some)).await.ok()?.ok()?;
        news.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(10);

    fn pair(lines: &Lines) -> (Lead, Follower) {
        match [lines.join_at(Digest([1; 16])), lines.join_at(Digest([1; 16]))] {
            [Joined::Leads(lead), Joined::Follows(follower)] => (lead, follower),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_follows_has_the_leaders_answer_or_goes_on_when_the_leader_is_gone() {
        let lines = Lines::new();
        let (lead, follower) = pair(&lines);
        let answer = CachedAnswer { model: "m1".to_owned(), ..Default::default() };
        lead.land(answer.clone());
        assert_eq!(follower.answer(WAIT).await.as_deref(), Some(&answer));

        let (mut lead, follower) = pair(&lines);
        lead.close();
        let (next, _) = pair(&lines);
        lead.land(answer.clone());
        assert_eq!(follower.answer(WAIT).await.as_deref(), Some(&answer));
        assert!(matches!(lines.join_at(Digest([1; 16])), Joined::Follows(_)), "the next line is still there");
        drop(next);

        let (lead, follower) = pair(&lines);
        let began = tokio::time::Instant::now();
        drop(lead);
        assert_eq!((follower.answer(WAIT).await, began.elapsed()), (None, Duration::ZERO));

        let (_lead, follower) = pair(&lines);
        assert_eq!((follower.answer(WAIT).await, began.elapsed()), (None, WAIT));
    }
}
