//! A run from its start to the verdict.

use super::{
    crowd::{Answered, Crowd, Told},
    field::{BudgetVictim, Field},
    verdict::{self, Verdict},
};
use crate::strikes::{Strike, plan};
use signalbox_testkit::FleetSize;
use std::{collections::BTreeMap, fs, mem, path::Path, time::Duration};
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Without any answer for so long, with everybody there, the budget is used up.
const QUIET: Duration = Duration::from_secs(5);
/// Without any progress for so long, something stands still.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is run.
#[derive(Debug, Clone)]
pub struct BudgetWish {
    /// How many answers the budget pays for, about.
    pub requests: u64,
    /// Kills in all.
    pub kills: usize,
    /// Clients that call at once.
    pub clients: u64,
    /// What kills and calls follow from.
    pub seed: u64,
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct BudgetReport {
    /// What was wished for.
    pub wish: BudgetWish,
    /// Who was killed how often.
    pub killed: BTreeMap<BudgetVictim, usize>,
    /// What clients were told.
    pub told: Told,
    /// From the first call until the budget was used up.
    pub spent_after: Duration,
    /// From then until all was settled.
    pub settled_after: Duration,
    /// What was found.
    pub verdict: Verdict,
}

/// Runs in a directory, and leaves logs there.
///
/// # Errors
/// What kept it from its end.
pub async fn run_budget(wish: &BudgetWish, dir: &Path) -> Result<BudgetReport, String> {
    let field = Field::start(FleetSize { routers: 3, budgets: 2 }, dir).await?;
    let cost = field.measure().await?;
    let limit = cost * wish.requests.cast_signed();
    field.limit(limit).await?;
    let crowd = Crowd::call(&field.routers(), wish.clients, wish.seed);
    let mut run = Run {
        field,
        crowd: Some(crowd),
        started: Instant::now(),
        told: Told::default(),
        killed: BTreeMap::new(),
        down: BTreeMap::new(),
    };
    let report = run.whole(wish, limit).await;
    for (number, process) in run.field.fleet.processes().enumerate() {
        let file = dir.join(format!("process-{number}.log"));
        fs::write(&file, process.log()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    report
}

struct Run {
    field: Field,
    crowd: Option<Crowd>,
    started: Instant,
    told: Told,
    killed: BTreeMap<BudgetVictim, usize>,
    /// Who is dead, and until how many requests have ended.
    down: BTreeMap<BudgetVictim, u64>,
}

impl Run {
    async fn whole(&mut self, wish: &BudgetWish, limit: i64) -> Result<BudgetReport, String> {
        // Those that were under way when somebody was killed are paid, too, so fewer than all are answered.
        let sure = wish.requests * 4 / 5;
        for strike in plan(&self.field.victims(), wish.kills, sure, wish.seed) {
            self.until_answered(strike.at).await?;
            self.strike(strike).await?;
        }
        for victim in self.down.keys().copied().collect::<Vec<_>>() {
            self.revive(victim).await?;
        }
        self.until_quiet().await;
        let spent_after = self.started.elapsed().saturating_sub(QUIET);
        let questions = self.field.questions().await;
        let answered = self.stop_crowd().await;
        let settling = Instant::now();
        let verdict = verdict::reach(&mut self.field, &answered, limit, questions).await?;
        Ok(BudgetReport {
            wish: wish.clone(),
            killed: mem::take(&mut self.killed),
            told: self.told,
            spent_after,
            settled_after: settling.elapsed(),
            verdict,
        })
    }

    fn look(&mut self) -> Told {
        self.told = self.crowd.as_ref().map_or(self.told, Crowd::told);
        self.told
    }

    async fn stop_crowd(&mut self) -> Vec<Answered> {
        match self.crowd.take() {
            Some(crowd) => {
                self.told = crowd.told();
                crowd.stop().await
            }
            None => Vec::new(),
        }
    }

    /// Waits for answers, and brings back who has been dead for long enough.
    async fn until_answered(&mut self, answers: u64) -> Result<(), String> {
        let (mut last, mut moved) = (self.look(), Instant::now());
        loop {
            let told = self.look();
            if told.answered >= answers {
                return Ok(());
            }
            if told.answered != last.answered {
                (last, moved) = (told, Instant::now());
            }
            // With somebody missing, nobody may be answered any more.
            let stuck = moved.elapsed() > QUIET;
            let due = |until: u64| stuck || told.answered >= until;
            let due: Vec<_> =
                self.down.iter().filter(|(_, until)| due(**until)).map(|(victim, _)| *victim).collect();
            for victim in due {
                self.revive(victim).await?;
                moved = Instant::now();
            }
            if moved.elapsed() > PATIENCE {
                return Err(format!("nobody was answered for {PATIENCE:?}: {told:?}"));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until nobody is answered any more.
    async fn until_quiet(&mut self) {
        let (mut last, mut moved) = (self.look(), Instant::now());
        while moved.elapsed() < QUIET {
            let told = self.look();
            if told.answered != last.answered || told.refused == last.refused {
                (last, moved) = (told, Instant::now());
                sleep(LOOK_EVERY * 20).await;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn strike(&mut self, strike: Strike<BudgetVictim>) -> Result<(), String> {
        if self.down.contains_key(&strike.victim) {
            self.revive(strike.victim).await?;
        }
        self.field.kill(strike.victim).await?;
        *self.killed.entry(strike.victim).or_default() += 1;
        self.down.insert(strike.victim, self.told.answered + strike.pause);
        if strike.pause == 0 { self.revive(strike.victim).await } else { Ok(()) }
    }

    async fn revive(&mut self, victim: BudgetVictim) -> Result<(), String> {
        self.down.remove(&victim);
        self.field.revive(victim).await
    }
}
