//! A run from its start to the verdict.

use crate::{
    check,
    field::{Field, Wish},
    stall::{Stall, Stored},
    strikes::{Strike, Victim, plan},
    told::Told,
};
use signalbox_kit::{Clock as _, SystemClock};
use std::{
    collections::BTreeMap,
    fs, mem,
    path::Path,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Without any progress for so long, something is lost: a message that was given to an ingester who died comes again
/// after half a minute.
const PATIENCE: Duration = Duration::from_secs(100);

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was wished for.
    pub wish: Wish,
    /// Who was killed how often.
    pub killed: BTreeMap<Victim, usize>,
    /// From the start until all was published.
    pub published_after: Duration,
    /// From the start until all was stored and nothing waited to come again.
    pub settled_after: Duration,
    /// The longest that a request waited for its account.
    pub longest: Duration,
    /// The longest that nothing left the spools although something waited there.
    pub stall: Duration,
    /// The longest that nothing was stored although something had left the spools, where that is looked at.
    pub store_stall: Option<Duration>,
    /// What was stored, in words.
    pub stored: String,
    /// Everything that is not as it must be.
    pub problems: Vec<String>,
}

/// Runs in a directory, and leaves the ingesters' logs there.
///
/// # Errors
/// What kept it from its end.
pub async fn run(wish: &Wish, dir: &Path) -> Result<Report, String> {
    let until = SystemClock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut run = Run::new(Field::start(wish, dir, until.cast_signed()).await?);
    let report = run.whole(wish, dir).await;
    for (number, ingester) in run.field.ingesters.iter().enumerate() {
        let file = dir.join(format!("ingester-{number}.log"));
        fs::write(&file, ingester.log()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    report
}

struct Run {
    field: Field,
    events: u64,
    started: Instant,
    told: Told,
    stall: Stall,
    stored: Option<Stored>,
    killed: BTreeMap<Victim, usize>,
    /// Who is dead, and until how many events are published.
    down: BTreeMap<Victim, u64>,
}

impl Run {
    fn new(field: Field) -> Self {
        Self {
            events: field.events(),
            started: Instant::now(),
            told: Told::default(),
            stall: Stall::new(),
            stored: field.engine.as_ref().map(Stored::watch),
            killed: BTreeMap::new(),
            down: BTreeMap::new(),
            field,
        }
    }

    async fn whole(&mut self, wish: &Wish, dir: &Path) -> Result<Report, String> {
        let events = self.events;
        for strike in plan(&self.field.victims(wish), wish.kills, events, wish.seed) {
            self.until(|told| told.confirmed >= strike.at).await?;
            self.strike(strike).await?;
        }
        self.until(|told| told.published >= events).await?;
        let published_after = self.started.elapsed();
        self.until(|told| told.confirmed >= events).await?;
        for victim in self.down.keys().copied().collect::<Vec<_>>() {
            self.revive(victim).await?;
        }
        self.settled().await?;
        let settled_after = self.started.elapsed();
        self.field.stop().await?;
        let (stored, problems) = check::check(&self.field, dir).await?;
        Ok(Report {
            wish: wish.clone(),
            published_after,
            settled_after,
            longest: self.told.longest,
            stall: self.stall.longest,
            store_stall: self.stored.as_ref().map(Stored::longest),
            killed: mem::take(&mut self.killed),
            stored,
            problems,
        })
    }

    fn look(&mut self) -> Told {
        let told = self.field.told();
        self.stall.look(told.confirmed, told.published);
        if let Some(stored) = &self.stored {
            stored.expect(told.confirmed);
        }
        self.told = told;
        told
    }

    /// Waits for progress, and brings back who has been dead for long enough.
    async fn until(&mut self, reached: impl Fn(&Told) -> bool) -> Result<(), String> {
        loop {
            let told = self.look();
            if reached(&told) {
                return Ok(());
            }
            self.field.failed()?;
            let mut publishers = (0..self.field.publishers()).map(Victim::Publisher);
            let stuck = told.published >= self.events || publishers.all(|it| self.down.contains_key(&it));
            let due = |until: u64| stuck || told.published >= until;
            let due: Vec<_> =
                self.down.iter().filter(|(_, until)| due(**until)).map(|(victim, _)| *victim).collect();
            for victim in due {
                self.revive(victim).await?;
            }
            if self.stall.lasting() > PATIENCE {
                return Err(format!("nothing has left the spools for {PATIENCE:?}: {told:?}"));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn strike(&mut self, strike: Strike<Victim>) -> Result<(), String> {
        if self.down.contains_key(&strike.victim) {
            self.revive(strike.victim).await?;
        }
        self.field.kill(strike.victim).await?;
        *self.killed.entry(strike.victim).or_default() += 1;
        self.down.insert(strike.victim, self.told.published + strike.pause);
        if strike.pause == 0 { self.revive(strike.victim).await } else { Ok(()) }
    }

    async fn revive(&mut self, victim: Victim) -> Result<(), String> {
        self.down.remove(&victim);
        self.field.revive(victim).await
    }

    /// Waits until nothing waits on the bus, to come for the first time or again.
    async fn settled(&mut self) -> Result<(), String> {
        let Some(bus) = &self.field.bus else {
            return Ok(());
        };
        let (mut waiting, mut moved) = (None, Instant::now());
        while waiting != Some(0) {
            sleep(LOOK_EVERY * 10).await;
            let now = bus.waiting().await;
            if now.is_some() && now != waiting {
                moved = Instant::now();
            }
            waiting = now.or(waiting);
            if moved.elapsed() > PATIENCE {
                return Err(format!("nothing was stored for {PATIENCE:?} although {waiting:?} wait"));
            }
        }
        Ok(())
    }
}
