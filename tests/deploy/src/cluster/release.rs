//! A release in a cluster of one machine: installed, watched, replaced pod by pod, and taken away.

use super::{
    container::Container,
    dns, env,
    forward::forward,
    image::Image,
    network::{self, NODE, PodNetwork},
    objects::{Job, Objects, Service, Step, Workload},
    pod::{Pod, run_to_end},
    private::resolver_files,
    registry::{Member, Registry},
    spec::PodTemplate,
    volumes::Places,
};
use crate::helm::NAMESPACE;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs, io,
    net::{Ipv4Addr, SocketAddrV4},
    path::PathBuf,
    time::Duration,
};
use tokio::{
    net::{TcpListener, UdpSocket},
    task::JoinSet,
    time::{Instant, sleep},
};

/// How long pods may take until they are ready.
const READY_WITHIN: Duration = Duration::from_secs(40);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A cluster, and the release in it. Everything ends when it is dropped.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    image: Image,
    registry: Registry,
    objects: Objects,
    pods: Vec<Pod>,
    /// What looks names up and leads connections on.
    network: JoinSet<io::Result<()>>,
    addresses: usize,
    pods_made: u16,
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
    /// One was not in time, or was started again meanwhile.
    pub async fn all_ready(&self) {
        let end = Instant::now() + READY_WITHIN;
        while let Some(pod) = self.pods.iter().find(|pod| !pod.is_ready()) {
            let restarts = pod.restarts();
            let told = || format!("started again: {restarts:?}\n{}", pod.log());
            assert!(restarts.len() < 3, "{} does not run; {}", pod.name(), told());
            assert!(Instant::now() < end, "{} does not get ready; {}", pod.name(), told());
            sleep(LOOK_EVERY).await;
        }
    }

    /// Replaces one pod of each Deployment and StatefulSet at once, as rollouts do. Where pods may overlap, the new one is
    /// ready before the old one is told to stop.
    pub async fn replace_one_of_each(&mut self) {
        let mut replaced = Vec::new();
        for workload in self.objects.workloads.clone() {
            let oldest = self.pods.iter().position(|pod| pod.workload == workload.name);
            replaced.extend(oldest.map(|oldest| self.pods.remove(oldest)));
            if workload.rolling {
                self.start_pod(&workload, 0).await;
            }
        }
        self.all_ready().await;
        stop_all(replaced).await;
        for workload in self.objects.workloads.clone().iter().filter(|workload| !workload.rolling) {
            self.start_pod(workload, 0).await;
        }
        self.all_ready().await;
    }

    /// Stops all pods at once, as they were promised.
    pub async fn stop(&mut self) {
        stop_all(self.pods.drain(..)).await;
    }

    async fn run(&mut self, job: &Job) {
        let mut failures = Vec::new();
        for attempt in 0..job.attempts {
            let name = format!("{}-{attempt}", job.name);
            let (network, container, _) = self.container(&name, &job.template, BTreeMap::new()).await;
            match run_to_end(&container, &network).await {
                Ok(()) => return,
                Err(why) => failures.push(why),
            }
        }
        panic!("the job {} failed: {}", job.name, failures.join("\n"));
    }

    async fn start_pod(&mut self, workload: &Workload, number: usize) {
        let name = if workload.stateful {
            format!("{}-{number}", workload.name)
        } else {
            format!("{}-{:05}", workload.name, self.pods_made)
        };
        let own_claims =
            workload.claims.iter().map(|claim| (claim.clone(), format!("{claim}-{name}"))).collect();
        let (network, container, places) = self.container(&name, &workload.template, own_claims).await;
        let ports = &container.spec.container().ports;
        let member = Member {
            labels: workload.template.metadata.labels.clone(),
            address: network.address,
            ports: ports.iter().map(|port| (port.name.clone(), port.container_port)).collect(),
            ready: false,
        };
        self.pods.push(Pod::start(&workload.name, container, places, network, member, &self.registry));
    }

    /// A pod that is yet to be started.
    async fn container(
        &mut self,
        name: &str,
        template: &PodTemplate,
        own_claims: BTreeMap<String, String>,
    ) -> (PodNetwork, Container, Places) {
        let network = PodNetwork::new(self.pods_made).await;
        self.pods_made += 1;
        let folder = self.folder.join("pods").join(format!("{}-{name}", self.pods_made));
        let places = Places { pod: folder.clone(), claims: self.folder.join("claims"), own_claims };
        let identity = env::Identity {
            pod: name.to_owned(),
            namespace: self.registry.namespace().to_owned(),
            address: network.address.to_string(),
            account: template.spec.service_account_name.clone(),
        };
        self.write_etc(&folder, &identity).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mounts = places.mounts(&template.spec, &self.objects);
        let mut given = self.image.environment.clone();
        given.insert("HOSTNAME".to_owned(), name.to_owned());
        if template.spec.enable_service_links {
            given.extend(self.links());
        }
        let rendered = template.spec.container();
        let environment = env::environment(rendered, given, &self.objects, &identity);
        let container = Container {
            pod: name.to_owned(),
            image: self.image.clone(),
            command: env::command(rendered, &self.image, &environment),
            environment,
            mounts: mounts.unwrap_or_else(|error| panic!("{name}: {error}")),
            spec: template.spec.clone(),
            folder,
        };
        (network, container, places)
    }

    fn write_etc(&self, folder: &std::path::Path, identity: &env::Identity) -> io::Result<()> {
        let etc = folder.join("etc");
        fs::create_dir_all(&etc)?;
        for (name, content) in resolver_files(&identity.namespace) {
            fs::write(etc.join(name), content)?;
        }
        fs::write(
            etc.join("hosts"),
            format!("127.0.0.1 localhost\n{} {}\n", identity.address, identity.pod),
        )?;
        fs::write(etc.join("passwd"), "root:x:0:0:root:/root:/sbin/nologin\n")?;
        fs::write(etc.join("group"), "root:x:0:\n")
    }

    /// The variables that kubelet sets for each service with an address.
    fn links(&self) -> env::Environment {
        let mut links = env::Environment::new();
        for (service, address) in self.registry.addressed() {
            let name = service.name.replace('-', "_").to_ascii_uppercase();
            links.insert(format!("{name}_SERVICE_HOST"), address.to_string());
            for (number, port) in service.spec.ports.iter().enumerate() {
                let (url, number_of) = (format!("tcp://{address}:{}", port.port), port.port.to_string());
                if number == 0 {
                    links.insert(format!("{name}_SERVICE_PORT"), number_of.clone());
                    links.insert(format!("{name}_PORT"), url.clone());
                }
                let port_name = port.name.replace('-', "_").to_ascii_uppercase();
                links.insert(format!("{name}_SERVICE_PORT_{port_name}"), number_of.clone());
                let link = format!("{name}_PORT_{number_of}_TCP");
                links.insert(format!("{link}_PROTO"), "tcp".to_owned());
                links.insert(format!("{link}_PORT"), number_of);
                links.insert(format!("{link}_ADDR"), address.to_string());
                links.insert(link, url);
            }
        }
        links
    }

    /// Names a service, and leads what is sent to its address, if it has one, to its pods.
    async fn serve(&mut self, service: Service, workloads: &[Workload]) {
        let selected =
            workloads.iter().filter(|workload| service.selects(&workload.template.metadata.labels));
        let selected: Vec<&Workload> = selected.collect();
        assert!(!selected.is_empty(), "the service {} selects no pods", service.name);
        for (port, workload) in
            service.spec.ports.iter().flat_map(|port| selected.iter().map(move |workload| (port, workload)))
        {
            let target = workload.template.spec.container().port(&port.target());
            let reached = if service.is_headless() { Some(port.port) } else { target };
            assert!(
                target.is_some() && reached == target,
                "the port {} of the service {} leads to {:?}, and pods of {} have {target:?} there",
                port.port,
                service.name,
                port.target(),
                workload.name
            );
        }
        let address = (!service.is_headless()).then(|| self.next_address());
        self.registry.add_service(service.clone(), address);
        for port in address.iter().flat_map(|_| &service.spec.ports) {
            let (registry, name, target) = (self.registry.clone(), service.name.clone(), port.target());
            let targets = move || registry.endpoints(&name, &target);
            self.lead(address.unwrap_or(Ipv4Addr::UNSPECIFIED), port.port, targets).await;
        }
    }

    async fn lead(
        &mut self,
        address: Ipv4Addr,
        port: u16,
        targets: impl Fn() -> Vec<SocketAddrV4> + Send + Sync + 'static,
    ) {
        let listener = TcpListener::bind((address, port)).await;
        let listener = listener.unwrap_or_else(|error| panic!("{address}:{port}: {error}"));
        self.network.spawn(forward(listener, targets));
    }

    fn next_address(&mut self) -> Ipv4Addr {
        self.addresses += 1;
        network::service_address(self.addresses)
    }
}

async fn stop_all(pods: impl IntoIterator<Item = Pod>) {
    let mut stopping = JoinSet::new();
    pods.into_iter().for_each(|pod| _ = stopping.spawn(pod.stop()));
    for ended in stopping.join_all().await {
        ended.unwrap_or_else(|why| panic!("{why}"));
    }
}
