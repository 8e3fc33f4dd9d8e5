//! The life of a pod: started, probed, started again when it must be, and stopped as it was promised.

use super::{
    container::Container,
    network::PodNetwork,
    probe::Probes,
    registry::{Member, Registry},
    volumes::Places,
};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    net::{Ipv4Addr, SocketAddr},
    process::ExitStatus,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    process::Child,
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};

/// Before a container is started again.
const PAUSE: Duration = Duration::from_millis(250);

/// A pod that runs. All of it ends when it is dropped.
#[derive(Debug)]
pub struct Pod {
    pub(super) workload: String,
    /// Which of the workload's pods, where they are told apart.
    pub(super) number: usize,
    pub(super) container: Arc<Container>,
    pub(super) places: Places,
    network: PodNetwork,
    registry: Registry,
    restarts: Restarts,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), String>>,
}

/// Why a container was started again, each time.
#[derive(Debug, Clone, Default)]
struct Restarts(Arc<Mutex<Vec<String>>>);

impl Restarts {
    fn add(&self, why: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Pod {
    pub(super) fn start(
        (workload, number): (&str, usize),
        container: Container,
        places: Places,
        network: PodNetwork,
        member: Member,
        registry: &Registry,
    ) -> Self {
        let container = Arc::new(container);
        registry.add_pod(&container.pod, member);
        let (stop, stopped) = oneshot::channel();
        let restarts = Restarts::default();
        let life = Life {
            probes: Probes::of(container.spec.container(), network.address),
            container: container.clone(),
            network: network.pid(),
            registry: registry.clone(),
            restarts: restarts.clone(),
        };
        let task = tokio::spawn(life.run(stopped));
        let (workload, registry) = (workload.to_owned(), registry.clone());
        Self { workload, number, container, places, network, registry, restarts, stop, task }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.container.pod
    }

    /// The Deployment or StatefulSet that it is of.
    pub fn workload(&self) -> &str {
        &self.workload
    }

    /// Where it is in the private network.
    pub fn address(&self) -> Ipv4Addr {
        self.network.address
    }

    /// Where one of its ports is, by the name that its container gives it.
    pub fn port(&self, name: &str) -> Option<SocketAddr> {
        let ports = &self.container.spec.container().ports;
        let port = ports.iter().find(|port| port.name == name)?;
        Some(SocketAddr::from((self.network.address, port.container_port)))
    }

    /// Whether its probes say that it is ready.
    pub fn is_ready(&self) -> bool {
        self.registry.is_ready(self.name())
    }

    /// Why its container was started again, each time.
    pub fn restarts(&self) -> Vec<String> {
        self.restarts.all()
    }

    /// What it has written.
    pub fn log(&self) -> String {
        self.container.log()
    }

    /// Stops it as kubelet does: out of the services, the rendered sleep, SIGTERM, and the rendered time to finish.
    ///
    /// # Errors
    /// It did not end well, or not in time.
    pub(super) async fn stop(self) -> Result<(), String> {
        let _told = self.stop.send(());
        let ended = self.task.await;
        self.registry.remove_pod(&self.container.pod);
        let told = ended.unwrap_or_else(|error| Err(error.to_string()));
        told.map_err(|why| format!("{}: {why}\n{}", self.container.pod, self.container.log()))
    }
}

/// What keeps a pod running.
struct Life {
    container: Arc<Container>,
    probes: Probes,
    network: String,
    registry: Registry,
    restarts: Restarts,
}

impl Life {
    async fn run(self, mut stopped: oneshot::Receiver<()>) -> Result<(), String> {
        loop {
            let mut child = self.container.start(&self.network).map_err(|error| error.to_string())?;
            let why = tokio::select! {
                _ = &mut stopped => return self.end(child).await,
                status = child.wait() => format!("it ended: {status:?}"),
                why = self.probes.watch(|ready| self.registry.set_ready(&self.container.pod, ready)) => why,
            };
            self.registry.set_ready(&self.container.pod, false);
            self.restarts.add(why);
            // One that has ended already is as good.
            let _ended = child.kill().await;
            tokio::select! {
                _ = &mut stopped => return Ok(()),
                () = sleep(PAUSE) => {}
            }
        }
    }

    /// A pod that ends stays behind the names that publish those that are not ready.
    async fn end(&self, mut child: Child) -> Result<(), String> {
        self.registry.set_ready(&self.container.pod, false);
        let spec = &self.container.spec;
        let killed = Instant::now() + Duration::from_secs(spec.termination_grace_period_seconds);
        if let Some(hook) = &spec.container().lifecycle.pre_stop {
            sleep(Duration::from_secs(hook.sleep.seconds)).await;
        }
        if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            kill_process(pid, Signal::TERM).map_err(|error| error.to_string())?;
        }
        match timeout_at(killed, child.wait()).await {
            Ok(status) => ended_well(status),
            Err(_) => Err("it had to be killed: its time to finish was over".to_owned()),
        }
    }
}

fn ended_well(status: std::io::Result<ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("it ended badly: {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs a container to its end.
///
/// # Errors
/// It failed.
pub(super) async fn run_to_end(container: &Container, network: &PodNetwork) -> Result<(), String> {
    let mut child = container.start(&network.pid()).map_err(|error| error.to_string())?;
    ended_well(child.wait().await).map_err(|why| format!("{}: {why}\n{}", container.pod, container.log()))
}
