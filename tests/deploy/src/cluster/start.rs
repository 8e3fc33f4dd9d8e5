//! Pods and Jobs, from what is rendered to processes.

use super::{
    container::Container,
    env::{self, Identity},
    network::PodNetwork,
    objects::{Job, Workload},
    pod::{Pod, run_to_end},
    private::resolver_files,
    registry::Member,
    release::Cluster,
    services::links,
    spec::PodTemplate,
    volumes::Places,
};
use std::{collections::BTreeMap, fs, io, path::Path};

impl Cluster {
    /// Runs a Job to its end, as often as it may be tried.
    pub(super) async fn run(&mut self, job: &Job) {
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

    pub(super) async fn start_pod(&mut self, workload: &Workload, number: usize) {
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
        self.pods.push(Pod::start(
            (&workload.name, number),
            container,
            places,
            network,
            member,
            &self.registry,
        ));
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
        let identity = Identity {
            pod: name.to_owned(),
            namespace: self.registry.namespace().to_owned(),
            address: network.address.to_string(),
            account: template.spec.service_account_name.clone(),
        };
        write_etc(&folder, &identity).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mounts = places.mounts(&template.spec, &self.objects);
        let mut given = self.image.environment.clone();
        given.insert("HOSTNAME".to_owned(), name.to_owned());
        if template.spec.enable_service_links {
            given.extend(self.registry.addressed().iter().flat_map(|(service, at)| links(service, *at)));
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
}

/// What a container runtime writes into `/etc`.
fn write_etc(folder: &Path, identity: &Identity) -> io::Result<()> {
    let etc = folder.join("etc");
    fs::create_dir_all(&etc)?;
    for (name, content) in resolver_files(&identity.namespace) {
        fs::write(etc.join(name), content)?;
    }
    fs::write(etc.join("hosts"), format!("127.0.0.1 localhost\n{} {}\n", identity.address, identity.pod))?;
    fs::write(etc.join("passwd"), "root:x:0:0:root:/root:/sbin/nologin\n")?;
    fs::write(etc.join("group"), "root:x:0:\n")
}
