//! A release in a cluster of one machine: installed, watched, replaced pod by pod, and taken away.

use super::{
    dns,
    image::Image,
    network::{self, NODE},
    objects::{Objects, Step},
    pod::Pod,
    registry::Registry,
};
use crate::helm::NAMESPACE;
use serde_json::Value;
use std::{
    io,
    net::{Ipv4Addr, SocketAddrV4},
    path::PathBuf,
    time::Duration,
};
use tokio::{
    net::UdpSocket,
    task::JoinSet,
    time::{Instant, sleep},
};

/// How long pods may take until they are ready.
const READY_WITHIN: Duration = Duration::from_secs(40);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A cluster, and the release in it. Everything ends when it is dropped.
#[derive(Debug)]
pub struct Cluster {
    pub(super) folder: PathBuf,
    pub(super) image: Image,
    pub(super) registry: Registry,
    pub(super) objects: Objects,
    pub(super) pods: Vec<Pod>,
    /// What looks names up and leads connections on.
    pub(super) network: JoinSet<io::Result<()>>,
    pub(super) addresses: usize,
    pub(super) pods_made: u16,
}

impl Cluster {
    /// An empty cluster whose images are all this one. Only [`privately`](super::privately), in the folder it gives.
    pub async fn start(folder: PathBuf, image: Image) -> Self {
        network::bridge().await;
        let registry = Registry::new(NAMESPACE);
        let socket =
            UdpSocket::bind((NODE, 53)).await.unwrap_or_else(|error| panic!("no name server: {error}"));
        let mut network = JoinSet::new();
        network.spawn(dns::serve(socket, registry.clone()));
        Self {
            folder,
            image,
            registry,
            objects: Objects::default(),
            pods: Vec::new(),
            network,
            addresses: 0,
            pods_made: 0,
        }
    }

    /// Something outside of the cluster: `name:port` leads to a port of this machine.
    pub async fn external(&mut self, name: &str, port: u16, here: u16) {
        let address = self.next_address();
        self.registry.add_external(name, address);
        self.lead(address, port, move || vec![SocketAddrV4::new(Ipv4Addr::LOCALHOST, here)]).await;
    }

    /// A secret that somebody made by hand, or changed; pods see it at their mounts.
    pub fn secret(&mut self, name: &str, content: &[(&str, &str)]) {
        let content = content.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
        self.objects.secrets.insert(name.to_owned(), content.collect());
        for pod in &self.pods {
            let written = pod.places.refresh(&pod.container.spec, &self.objects);
            written.unwrap_or_else(|error| panic!("{}: {error}", pod.name()));
        }
    }

    /// Installs a release: hooks before the rest, the lighter ones first, each run to its end; then everything else is
    /// started, and hooks after it.
    pub async fn install(&mut self, documents: &[Value]) {
        for objects in Objects::by_step(documents, false).into_values() {
            self.bring(objects).await;
        }
    }

    /// Runs the Jobs that helm runs before and after an upgrade, with what they bring.
    pub async fn run_hooks(&mut self, documents: &[Value]) {
        for (step, objects) in Objects::by_step(documents, true) {
            if step != Step::Main {
                self.bring(objects).await;
            }
        }
    }

    async fn bring(&mut self, objects: Objects) {
        self.objects.extend(Objects { workloads: Vec::new(), jobs: Vec::new(), ..objects.clone() });
        for service in objects.services {
            self.serve(service, &objects.workloads).await;
        }
        for job in &objects.jobs {
            self.run(job).await;
        }
        for workload in objects.workloads {
            for number in 0..workload.replicas {
                self.start_pod(&workload, number).await;
            }
            self.objects.workloads.push(workload);
        }
    }

    /// The pods that run.
    pub fn pods(&self) -> &[Pod] {
        &self.pods
    }

    /// The names of Deployments and StatefulSets.
    pub fn workloads(&self) -> Vec<String> {
        self.objects.workloads.iter().map(|workload| workload.name.clone()).collect()
    }

    /// The addresses behind a name, as pods look it up.
    pub fn look_up(&self, service: &str) -> Vec<Ipv4Addr> {
        let name = format!("{service}.{}.svc.cluster.local", self.registry.namespace());
        self.registry.look_up(&name).unwrap_or_default()
    }

    /// Waits until all pods are ready.
    ///
    /// # Panics
    /// One was not in time, or was started again and again.
    pub async fn all_ready(&self) {
        let end = Instant::now() + READY_WITHIN;
        while let Some(pod) = self.pods.iter().find(|pod| !pod.is_ready()) {
            let restarts = pod.restarts();
            assert!(restarts.len() < 3, "{} does not run: {restarts:?}", pod.name());
            assert!(Instant::now() < end, "{} does not get ready; started again: {restarts:?}", pod.name());
            sleep(LOOK_EVERY).await;
        }
    }

    /// Replaces one pod of each Deployment and StatefulSet at once, as rollouts do. Where pods may overlap, the new one is
    /// ready before the old one is told to stop.
    pub async fn replace_one_of_each(&mut self) {
        let (mut replaced, mut then) = (Vec::new(), Vec::new());
        for workload in self.objects.workloads.clone() {
            let oldest = self.pods.iter().position(|pod| pod.workload == workload.name);
            let oldest = self.pods.remove(oldest.unwrap_or_else(|| panic!("{} has no pods", workload.name)));
            let number = oldest.number;
            replaced.push(oldest);
            if workload.rolling {
                self.start_pod(&workload, 0).await;
            } else {
                then.push((workload, number));
            }
        }
        self.all_ready().await;
        stop_all(replaced).await;
        for (workload, number) in then {
            self.start_pod(&workload, number).await;
        }
        self.all_ready().await;
    }

    /// Stops all pods at once, as they were promised.
    pub async fn stop(&mut self) {
        stop_all(self.pods.drain(..)).await;
    }
}

async fn stop_all(pods: impl IntoIterator<Item = Pod>) {
    let mut stopping = JoinSet::new();
    pods.into_iter().for_each(|pod| _ = stopping.spawn(pod.stop()));
    for ended in stopping.join_all().await {
        ended.unwrap_or_else(|why| panic!("{why}"));
    }
}
