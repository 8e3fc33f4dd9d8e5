//! A usage log that can be looked into.

use signalbox_api::v1::UsageEvent;
use signalbox_ports::{LogFull, OpenAccount, UsageLog};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

/// The log. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book(Arc<Pages>);

#[derive(Debug, Default)]
struct Pages {
    full: AtomicBool,
    opened: AtomicU32,
    /// Drafts of accounts that are open, oldest first for each.
    drafts: Mutex<HashMap<u32, Vec<UsageEvent>>>,
    closed: Mutex<Vec<UsageEvent>>,
}

impl Book {
    /// From now on it takes nothing more.
    pub(crate) fn fill(&self) {
        self.0.full.store(true, Ordering::Relaxed);
    }

    /// The accounts that were closed.
    pub(crate) fn closed(&self) -> Vec<UsageEvent> {
        self.0.closed.lock().unwrap().clone()
    }

    /// The last account that was closed; none may be open.
    pub(crate) fn last(&self) -> UsageEvent {
        assert!(self.0.drafts.lock().unwrap().is_empty(), "{:?}", self.0.drafts);
        self.closed().pop().unwrap()
    }

    /// All drafts of the one account that is open.
    pub(crate) fn drafts(&self) -> Vec<UsageEvent> {
        let drafts = self.0.drafts.lock().unwrap();
        assert_eq!(drafts.len(), 1);
        drafts.values().next().unwrap().clone()
    }

    fn check(&self) -> Result<(), LogFull> {
        let full = LogFull::Waiting { used_bytes: 7, max_bytes: 7 };
        if self.0.full.load(Ordering::Relaxed) { Err(full) } else { Ok(()) }
    }
}

impl UsageLog for Book {
    fn open(&self, draft: &UsageEvent) -> Result<OpenAccount, LogFull> {
        self.check()?;
        let number = self.0.opened.fetch_add(1, Ordering::Relaxed);
        self.0.drafts.lock().unwrap().insert(number, vec![draft.clone()]);
        Ok(OpenAccount(number))
    }

    fn revise(&self, account: &OpenAccount, draft: &UsageEvent) {
        self.0.drafts.lock().unwrap().get_mut(&account.0).unwrap().push(draft.clone());
    }

    fn close(&self, account: OpenAccount, event: &UsageEvent) {
        let drafts = self.0.drafts.lock().unwrap().remove(&account.0).unwrap();
        assert!(drafts.iter().all(|draft| draft.event_id == event.event_id));
        self.0.closed.lock().unwrap().push(event.clone());
    }

    fn append(&self, event: &UsageEvent) -> Result<(), LogFull> {
        self.check()?;
        self.0.closed.lock().unwrap().push(event.clone());
        Ok(())
    }
}
