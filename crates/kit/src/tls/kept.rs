//! What is made of files, and made anew when they change.

use super::{files::PemFile, metrics, own::Own};
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
    fn load(config: &Self::Config) -> Result<Self, String>;

    /// The certificate that is shown.
    fn own(&self) -> &Own;

    /// Why others would not believe it although it is valid, as far as that can be known here.
    fn doubt(&self, _: &Self::Config, _: SystemTime) -> Option<String> {
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
    problem: Option<String>,
}

type Content = [u8; 32];

impl<M: Material> Kept<M> {
    pub(super) fn load(config: &M::Config, clock: Arc<dyn Clock>) -> Result<Self, String> {
        // Taken before: a change in between is then seen by the first look.
        let in_use = content::<M>(config);
        let material = M::load(config)?;
        if let Some(problem) = untimely(config, &material, clock.as_ref()) {
            tracing::error!("{problem}; it is shown all the same, and nobody will believe it");
        }
        begin_use(config, &material, clock.as_ref());
        let looked = Mutex::new(Looked { in_use, problem: None });
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
                *looked = Looked { in_use: content, problem: None };
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
            Ok(None) => looked.problem = None,
            Err(_) => {}
        }
    }

    fn take_over(&self, material: M) {
        tracing::info!(tls = M::USE, expires = %material.own().expires_at(), "certificate reloaded");
        begin_use(&self.config, &material, self.clock.as_ref());
        metrics::reloaded(M::USE, true);
        self.current.store(Arc::new(material));
    }
}

/// What the files make now, where their content is another. Certificates that are not valid now are no gain.
fn changed<M: Material>(
    config: &M::Config,
    in_use: Content,
    clock: &dyn Clock,
) -> Option<Result<(Content, M), String>> {
    let content = content::<M>(config);
    if content == in_use {
        return None;
    }
    Some(M::load(config).and_then(|material| match untimely(config, &material, clock) {
        Some(problem) => Err(problem),
        None => Ok((content, material)),
    }))
}

fn untimely<M: Material>(config: &M::Config, material: &M, clock: &dyn Clock) -> Option<String> {
    let problem = material.own().untimely(clock.now())?;
    M::files(config).first().map(|file| file.told(problem))
}

fn begin_use<M: Material>(config: &M::Config, material: &M, clock: &dyn Clock) {
    let now = clock.now();
    let doubt = material.own().untimely(now).is_none().then(|| material.doubt(config, now)).flatten();
    if let Some(doubt) = doubt {
        tracing::warn!("{doubt}");
    }
    let expires_at = material.own().expires_at().unix_duration().as_secs();
    metrics::in_use(M::USE, i64::try_from(expires_at).unwrap_or(i64::MAX));
}

/// A digest of all files, or of the reasons why there are none.
fn content<M: Material>(config: &M::Config) -> Content {
    let files = M::files(config);
    let each = files.iter().map(|file| Sha256::digest(file.read().unwrap_or_else(String::into_bytes)));
    each.fold(Sha256::new(), |all, one| all.chain_update(one)).finalize().into()
}
