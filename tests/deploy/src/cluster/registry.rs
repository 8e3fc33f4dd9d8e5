//! What the cluster knows of its pods and services: who is behind a name now.

use super::{
    objects::Service,
    spec::{Labels, Port},
};
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddrV4},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Shared by pods, which say how they are, and by what looks names up and leads connections to pods.
#[derive(Debug, Clone)]
pub(super) struct Registry {
    namespace: String,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    pods: BTreeMap<String, Member>,
    services: BTreeMap<String, (Service, Option<Ipv4Addr>)>,
    external: BTreeMap<String, Ipv4Addr>,
}

/// A pod as services see it.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) labels: Labels,
    pub(super) address: Ipv4Addr,
    pub(super) ports: BTreeMap<String, u16>,
    pub(super) ready: bool,
}

impl Registry {
    pub(super) fn new(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), known: Arc::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// A service, with an address of its own unless it is headless.
    pub(super) fn add_service(&self, service: Service, address: Option<Ipv4Addr>) {
        self.known().services.insert(service.name.clone(), (service, address));
    }

    /// A name outside of the cluster.
    pub(super) fn add_external(&self, name: &str, address: Ipv4Addr) {
        self.known().external.insert(name.to_owned(), address);
    }

    pub(super) fn add_pod(&self, name: &str, member: Member) {
        self.known().pods.insert(name.to_owned(), member);
    }

    pub(super) fn remove_pod(&self, name: &str) {
        self.known().pods.remove(name);
    }

    pub(super) fn set_ready(&self, name: &str, ready: bool) {
        if let Some(pod) = self.known().pods.get_mut(name) {
            pod.ready = ready;
        }
    }

    pub(super) fn is_ready(&self, name: &str) -> bool {
        self.known().pods.get(name).is_some_and(|pod| pod.ready)
    }

    /// The services with an address of their own, with their ports by name.
    pub(super) fn addressed(&self) -> Vec<(Service, Ipv4Addr)> {
        let known = self.known();
        let addressed = known
            .services
            .values()
            .filter_map(|(service, address)| address.map(|address| (service.clone(), address)));
        addressed.collect()
    }

    /// The ready pods behind a port of a service.
    pub(super) fn endpoints(&self, service: &str, port: &Port) -> Vec<SocketAddrV4> {
        let known = self.known();
        let Some((service, _)) = known.services.get(service) else { return Vec::new() };
        let pods = known.pods.values().filter(|pod| pod.is_behind(service));
        let endpoints = pods.filter_map(|pod| Some(SocketAddrV4::new(pod.address, pod.port(port)?)));
        endpoints.collect()
    }

    /// The addresses of a whole name; nothing where nobody has it.
    pub(super) fn look_up(&self, name: &str) -> Option<Vec<Ipv4Addr>> {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let known = self.known();
        if let Some(address) = known.external.get(&name) {
            return Some(vec![*address]);
        }
        let inside = name.strip_suffix(".svc.cluster.local")?.strip_suffix(&self.namespace)?;
        let inside = inside.strip_suffix('.')?;
        let (pod, service) =
            inside.rsplit_once('.').map_or((None, inside), |(pod, service)| (Some(pod), service));
        let (service, address) = known.services.get(service)?;
        match (pod, address) {
            (None, Some(address)) => Some(vec![*address]),
            (None, None) => {
                let pods = known.pods.values().filter(|pod| pod.is_behind(service));
                Some(pods.map(|pod| pod.address).collect())
            }
            (Some(pod), _) => {
                let pod = known.pods.get(pod).filter(|pod| pod.is_behind(service))?;
                Some(vec![pod.address])
            }
        }
    }
}

impl Member {
    fn is_behind(&self, service: &Service) -> bool {
        service.selects(&self.labels) && (self.ready || service.spec.publish_not_ready_addresses)
    }

    fn port(&self, port: &Port) -> Option<u16> {
        match port {
            Port::Number(number) => Some(*number),
            Port::Name(name) => self.ports.get(name).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize as _;
    use serde_json::json;

    fn service(name: &str, cluster_ip: &str) -> Service {
        let spec = json!({"clusterIP": cluster_ip, "selector": {"app": "a"}, "ports": [{"port": 1}]});
        let spec = super::super::objects::ServiceSpec::deserialize(spec).unwrap();
        Service { name: name.to_owned(), spec }
    }

    fn member(number: u8, ready: bool) -> Member {
        Member {
            labels: Labels::from([("app".to_owned(), "a".to_owned())]),
            address: Ipv4Addr::new(10, 0, 0, number),
            ports: BTreeMap::from([("grpc".to_owned(), 50051)]),
            ready,
        }
    }

    #[test]
    fn a_headless_name_means_the_pods_that_are_ready() {
        let registry = Registry::new("space");
        registry.add_service(service("headless", "None"), None);
        registry.add_service(service("addressed", ""), Some(Ipv4Addr::new(10, 1, 0, 1)));
        registry.add_external("postgres", Ipv4Addr::new(10, 1, 0, 2));
        registry.add_pod("a-0", member(1, true));
        registry.add_pod("a-1", member(2, false));
        let addresses = |name: &str| {
            registry.look_up(name).map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let one = |address: &str| Some(vec![address.to_owned()]);
        assert_eq!(addresses("headless.space.svc.cluster.local"), one("10.0.0.1"));
        assert_eq!(addresses("a-0.headless.space.svc.cluster.local."), one("10.0.0.1"));
        assert_eq!(addresses("a-1.headless.space.svc.cluster.local"), None);
        assert_eq!(addresses("addressed.space.svc.cluster.local"), one("10.1.0.1"));
        assert_eq!(addresses("Postgres"), one("10.1.0.2"));
        assert_eq!(addresses("headless"), None);
        assert_eq!(addresses("headless.elsewhere.svc.cluster.local"), None);
        registry.set_ready("a-1", true);
        let behind = registry.endpoints("headless", &Port::Name("grpc".to_owned()));
        assert_eq!(behind.len(), 2, "{behind:?}");
    }
}
