//! What is made of files, and made anew when they change.

use super::{
    files::{FileProblem, PemFile},
    metrics,
    own::{Age, Own},
};
use crate::clock::Clock;
use arc_swap::{ArcSwap, Guard};
use sha2::{Digest, Sha256};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{sync::Mutex, task::spawn_blocking, time};

/// How often the files' content is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Made of a certificate's files.
pub(super) trait Material: Sized + Send + Sync + 'static {
    /// What for, in metrics and logs.
    const USE: &'static str;
    /// Names the files.
    type Config: Clone + Send + Sync + 'static;

    /// All files that it is made of, that with the certificate first.
    fn files(config: &Self::Config) -> Vec<PemFile<'_>>;

    /// Makes it.
    fn load(config: &Self::Config) -> Result<Self, FileProblem>;

    /// The certificate that is shown.
    fn own(&self) -> &Own;

    /// Why others would not believe it although it is valid, as far as that can be known here.
    fn doubt(&self, _: &Self::Config, _: SystemTime) -> Option<FileProblem> {
        None
    }
}

/// The material in use. Readers never wait.
#[derive(Debug)]
pub(super) struct Kept<M: Material> {
    config: M::Config,
    clock: Arc<dyn Clock>,
    current: ArcSwap<M>,
    /// Held while looking.
    looked: Mutex<Looked>,
}

/// What was found when the files were last looked at.
#[derive(Debug)]
struct Looked {
    /// Content of the files in use.
    in_use: Content,
    /// What is wrong with a newer content, so that it is told once.
    problem: Option<FileProblem>,
    /// What has been told of the age of the certificate in use.
    age: Age,
}

type Content = [u8; 32];

impl<M: Material> Kept<M> {
    pub(super) fn load(config: &M::Config, clock: Arc<dyn Clock>) -> Result<Self, FileProblem> {
        // Taken before: a change in between is then seen by the first look.
        let in_use = content::<M>(config);
        let material = M::load(config)?;
        let (now, mut age) = (clock.now(), Age::Good);
        if let Some(problem) = untimely(config, &material, now) {
            tracing::error!("{problem}; it is shown all the same, and nobody will believe it");
            age = material.own().age(now);
        } else if let Some(doubt) = material.doubt(config, now) {
            tracing::warn!("{doubt}");
        }
        begin_use(&material);
        let looked = Mutex::new(Looked { in_use, problem: None, age });
        Ok(Self { config: config.clone(), clock, current: ArcSwap::from_pointee(material), looked })
    }

    pub(super) fn current(&self) -> Guard<Arc<M>> {
        self.current.load()
    }

    /// Looks at the files again and again. Runs until dropped.
    pub(super) async fn watch(&self) {
        let mut ticks = time::interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.look().await;
        }
    }

    /// Takes over what has changed, whole or not at all.
    pub(super) async fn look(&self) {
        let mut looked = self.looked.lock().await;
        let (config, clock, in_use) = (self.config.clone(), self.clock.clone(), looked.in_use);
        let found = spawn_blocking(move || changed::<M>(&config, in_use, clock.as_ref()));
        // While the runtime is shutting down nothing is found.
        match found.await {
            Ok(Some(Ok((content, material)))) => {
                *looked = Looked { in_use: content, problem: None, age: Age::Good };
                self.take_over(material);
            }
            // A bad content is tried again: a certificate may not have been valid yet.
            Ok(Some(Err(problem))) => {
                if looked.problem.as_ref() != Some(&problem) {
                    tracing::warn!(
                        tls = M::USE,
                        "certificate not reloaded, the last good one stays: {problem}"
                    );
                    metrics::reloaded(M::USE, false);
                    looked.problem = Some(problem);
                }
            }
            Ok(None) => {
                if let Some(problem) = looked.problem.take() {
                    metrics::files_are_good(M::USE, true);
                    let was = problem.message;
                    tracing::info!(
                        tls = M::USE,
                        was,
                        "the certificate's files are good again: as those in use"
                    );
                }
            }
            Err(_) => {}
        }
        self.tell_age(&mut looked.age);
    }

    /// Says once that the certificate in use should have been renewed, and once that it has expired.
    fn tell_age(&self, told: &mut Age) {
        let current = self.current();
        let own = current.own();
        let age = own.age(self.clock.now());
        if age <= *told {
            return;
        }
        *told = age;
        let expires = own.expires_at();
        match age {
            Age::Good => {}
            Age::Old => {
                tracing::warn!(tls = M::USE, %expires, "the certificate in use expires soon and was not renewed");
            }
            Age::Expired => {
                tracing::error!(
                    tls = M::USE,
                    %expires,
                    "the certificate in use has expired: no new connection is made with it"
                );
            }
        }
    }

    fn take_over(&self, material: M) {
        tracing::info!(tls = M::USE, expires = %material.own().expires_at(), "certificate reloaded");
        begin_use(&material);
        metrics::reloaded(M::USE, true);
        self.current.store(Arc::new(material));
    }
}

/// What the files make now, where their content is another. What nobody would believe is no gain.
fn changed<M: Material>(
    config: &M::Config,
    in_use: Content,
    clock: &dyn Clock,
) -> Option<Result<(Content, M), FileProblem>> {
    let content = content::<M>(config);
    if content == in_use {
        return None;
    }
    Some(M::load(config).and_then(|material| match unbelieved(config, &material, clock.now()) {
        Some(problem) => Err(problem),
        None => Ok((content, material)),
    }))
}

/// Why nobody would believe what is in the files, if so; or else why a process does not start with them.
pub(super) fn inspect<M: Material>(
    config: &M::Config,
    now: SystemTime,
) -> Result<Option<FileProblem>, FileProblem> {
    M::load(config).map(|material| unbelieved(config, &material, now))
}

fn unbelieved<M: Material>(config: &M::Config, material: &M, now: SystemTime) -> Option<FileProblem> {
    untimely(config, material, now).or_else(|| material.doubt(config, now))
}

fn untimely<M: Material>(config: &M::Config, material: &M, now: SystemTime) -> Option<FileProblem> {
    let problem = material.own().untimely(now)?;
    M::files(config).first().map(|file| file.told(problem))
}

fn begin_use<M: Material>(material: &M) {
    metrics::in_use(M::USE, material.own().expires_at().unix_duration(), material.own().lifetime());
}

/// A digest of all files, or of the reasons why there are none.
fn content<M: Material>(config: &M::Config) -> Content {
    let files = M::files(config);
    let each = files
        .iter()
        .map(|file| Sha256::digest(file.read().unwrap_or_else(|problem| problem.message.into_bytes())));
    each.fold(Sha256::new(), |all, one| all.chain_update(one)).finalize().into()
}
