//! One question at a time: whoever wants to know the same waits for the answer to whoever asked first.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

type Open<K, A> = Arc<Mutex<HashMap<K, watch::Receiver<Option<A>>>>>;

/// Questions under way.
#[derive(Debug)]
pub(crate) struct Flights<K, A>(Open<K, A>);

/// The one that asks. Dropped without an answer, somebody else may ask.
#[derive(Debug)]
pub(crate) struct Lead<K: Eq + Hash, A> {
    open: Open<K, A>,
    key: K,
    answer: watch::Sender<Option<A>>,
    landed: bool,
}

/// One that waits.
#[derive(Debug)]
pub(crate) struct Follow<A>(watch::Receiver<Option<A>>);

impl<K, A> Default for Flights<K, A> {
    fn default() -> Self {
        Self(Open::default())
    }
}

impl<K: Eq + Hash + Clone, A> Flights<K, A> {
    /// Waits for an answer. Whoever gets a [`Lead`] must see to it that there is one.
    pub(crate) fn join(&self, key: &K) -> (Option<Lead<K, A>>, Follow<A>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = open.get(key) {
            return (None, Follow(flight.clone()));
        }
        let (answer, follow) = watch::channel(None);
        open.insert(key.clone(), follow.clone());
        let lead = Lead { open: self.0.clone(), key: key.clone(), answer, landed: false };
        (Some(lead), Follow(follow))
    }
}

impl<K: Eq + Hash, A> Lead<K, A> {
    pub(crate) fn tell(mut self, answer: A) {
        // First this: whoever asks after the answer was told must not be given it again.
        self.land();
        self.answer.send_replace(Some(answer));
    }

    fn land(&mut self) {
        if !self.landed {
            self.landed = true;
            self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        }
    }
}

impl<K: Eq + Hash, A> Drop for Lead<K, A> {
    fn drop(&mut self) {
        self.land();
    }
}

impl<A: Clone> Follow<A> {
    /// The answer; `None` when whoever asked gave up.
    pub(crate) async fn answer(mut self) -> Option<A> {
        self.0.wait_for(Option::is_some).await.ok()?.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn all_who_ask_meanwhile_get_the_answer_and_whoever_asks_later_asks_anew() {
        let flights = Flights::default();
        let (lead, first) = flights.join(&"key");
        let (none, second) = flights.join(&"key");
        assert!(none.is_none());
        lead.unwrap().tell(7);
        let (lead, third) = flights.join(&"key");
        assert_eq!((first.answer().await, second.answer().await), (Some(7), Some(7)));
        drop(lead.expect("a new question"));
        assert_eq!(third.answer().await, None, "whoever asked gave up");
        assert!(flights.join(&"key").0.is_some());
    }
}
