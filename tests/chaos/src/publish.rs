//! A process that accounts for requests: the real spool, used as the router uses it.

use crate::{
    ledger::{Ledger, draft},
    told::Told,
};
use signalbox_api::v1::UsageEvent;
use signalbox_ports::{OpenAccount, UsageLog as _};
use signalbox_spool::{Options, Spool};
use std::{
    collections::VecDeque,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Requests under way at a time: so many are told by their drafts when the process is killed.
const UNDER_WAY: usize = 8;
/// How often requests come, and progress is told.
const TICK: Duration = Duration::from_millis(5);
/// How often the disk is asked to keep what was written.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// What a publisher does.
#[derive(Debug, Clone)]
pub struct Publishing {
    /// Where its spool is, and what it tells.
    pub dir: PathBuf,
    /// What it publishes.
    pub ledger: Ledger,
    /// Requests a second.
    pub rate: u64,
}

impl Publishing {
    /// Where a publisher in a directory tells how far it is.
    pub fn told(dir: &Path) -> PathBuf {
        dir.join("told")
    }

    /// Opens the spool.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn open(&self) -> Result<Arc<Spool>, String> {
        let options =
            Options { dir: self.dir.join("spool"), max_bytes: 4 << 30, segment_bytes: 4 << 20, readers: &[] };
        Spool::open(options).map(Arc::new).map_err(|error| error.to_string())
    }

    /// Publishes what is missing, at its rate, then tells on how much is confirmed. Ends by being killed.
    ///
    /// Accounts are opened in the order of their numbers and all that was opened is in the spool, by itself or by its
    /// draft, once it is opened again. So the number of entries is the number of the next event.
    ///
    /// # Errors
    /// The disk.
    pub async fn run(&self, spool: Arc<Spool>) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let told = File::options().create(true).truncate(false).write(true).open(Self::told(&self.dir))?;
        let before = Told::read(&Self::told(&self.dir)).unwrap_or_default();
        let first = spool.last().0;
        let mut publisher = Publisher {
            ledger: self.ledger,
            spool,
            next: first,
            under_way: VecDeque::new(),
            longest: before.longest,
        };
        tokio::spawn(sync(publisher.spool.clone()));
        let (started, mut ticks) = (Instant::now(), interval(TICK));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let due =
                u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX) * self.rate / 1_000_000;
            publisher.until((first + due).min(self.ledger.events));
            publisher.told().write(&told)?;
        }
    }
}

struct Publisher {
    ledger: Ledger,
    spool: Arc<Spool>,
    /// Number of the next event.
    next: u64,
    under_way: VecDeque<(OpenAccount, UsageEvent)>,
    longest: Duration,
}

impl Publisher {
    /// Begins all requests before `end` and ends those that began long enough ago; at the end of the ledger all.
    fn until(&mut self, end: u64) {
        while self.next < end {
            let event = self.ledger.event(self.next);
            let draft = draft(&event);
            let started = Instant::now();
            // The request is refused. It comes again.
            let Ok(account) = self.spool.open(&draft) else { return };
            self.spool.revise(&account, &draft);
            self.longest = self.longest.max(started.elapsed());
            self.under_way.push_back((account, event));
            self.next += 1;
            self.end(UNDER_WAY);
        }
        if self.next == self.ledger.events {
            self.end(0);
        }
    }

    fn end(&mut self, stay: usize) {
        while self.under_way.len() > stay
            && let Some((account, event)) = self.under_way.pop_front()
        {
            let started = Instant::now();
            self.spool.close(account, &event);
            self.longest = self.longest.max(started.elapsed());
        }
    }

    fn told(&self) -> Told {
        Told { published: self.spool.last().0, confirmed: self.spool.confirmed().0, longest: self.longest }
    }
}

async fn sync(spool: Arc<Spool>) {
    let mut ticks = interval(SYNC_EVERY);
    loop {
        ticks.tick().await;
        let spool = spool.clone();
        let _again_soon = tokio::task::spawn_blocking(move || spool.sync()).await;
    }
}
