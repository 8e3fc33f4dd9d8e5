//! Services: names for pods, and addresses that lead to them.

use super::{
    env::Environment,
    forward::forward,
    network,
    objects::{Service, Workload},
    release::Cluster,
};
use std::net::{Ipv4Addr, SocketAddrV4};
use tokio::net::TcpListener;

impl Cluster {
    /// Names a service, and leads what is sent to its address, if it has one, to its pods.
    pub(super) async fn serve(&mut self, service: Service, workloads: &[Workload]) {
        check(&service, workloads).unwrap_or_else(|problem| panic!("{problem}"));
        let address = (!service.is_headless()).then(|| self.next_address());
        self.registry.add_service(service.clone(), address);
        for (address, port) in
            address.iter().flat_map(|at| service.spec.ports.iter().map(move |port| (*at, port)))
        {
            let (registry, name, target) = (self.registry.clone(), service.name.clone(), port.target());
            self.lead(address, port.port, move || registry.endpoints(&name, &target)).await;
        }
    }

    /// Leads connections to an address on.
    pub(super) async fn lead(
        &mut self,
        address: Ipv4Addr,
        port: u16,
        targets: impl Fn() -> Vec<SocketAddrV4> + Send + Sync + 'static,
    ) {
        let listener = TcpListener::bind((address, port)).await;
        let listener = listener.unwrap_or_else(|error| panic!("{address}:{port}: {error}"));
        self.network.spawn(forward(listener, targets));
    }

    pub(super) fn next_address(&mut self) -> Ipv4Addr {
        self.addresses += 1;
        network::service_address(self.addresses)
    }
}

/// Whether a service leads where its pods listen. Who looks a headless one up meets the pods themselves, at the port that
/// the service has.
fn check(service: &Service, workloads: &[Workload]) -> Result<(), String> {
    let selected = workloads.iter().filter(|workload| service.selects(&workload.template.metadata.labels));
    let selected: Vec<&Workload> = selected.collect();
    if selected.is_empty() {
        return Err(format!("the service {} selects no pods", service.name));
    }
    for (port, workload) in
        service.spec.ports.iter().flat_map(|port| selected.iter().map(move |of| (port, of)))
    {
        let target = workload.template.spec.container().port(&port.target());
        if target.is_none() || (service.is_headless() && target != Some(port.port)) {
            return Err(format!(
                "the port {} of the service {} leads to {:?}, and pods of {} have {target:?} there",
                port.port,
                service.name,
                port.target(),
                workload.name
            ));
        }
    }
    Ok(())
}

/// The variables that kubelet sets for a service with an address.
pub(super) fn links(service: &Service, address: Ipv4Addr) -> Environment {
    let upper = |name: &str| name.replace('-', "_").to_ascii_uppercase();
    let name = upper(&service.name);
    let mut links = Environment::from([(format!("{name}_SERVICE_HOST"), address.to_string())]);
    for (index, port) in service.spec.ports.iter().enumerate() {
        let (url, number) = (format!("tcp://{address}:{}", port.port), port.port.to_string());
        if index == 0 {
            links.insert(format!("{name}_SERVICE_PORT"), number.clone());
            links.insert(format!("{name}_PORT"), url.clone());
        }
        let link = format!("{name}_PORT_{number}_TCP");
        links.extend([
            (format!("{name}_SERVICE_PORT_{}", upper(&port.name)), number.clone()),
            (format!("{link}_PROTO"), "tcp".to_owned()),
            (format!("{link}_PORT"), number),
            (format!("{link}_ADDR"), address.to_string()),
            (link, url),
        ]);
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::objects::{Objects, Step};
    use serde_json::json;

    /// Why a service with these fields does not do for pods that listen at `grpc`, 50051.
    fn problem(service: serde_json::Value) -> Option<String> {
        let container =
            json!({"name": "a", "image": "a", "ports": [{"name": "grpc", "containerPort": 50051}]});
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}});
        let deployment = json!({"kind": "Deployment", "metadata": {"name": "router"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": template}});
        let service = json!({"kind": "Service", "metadata": {"name": "service"}, "spec": service});
        let objects = Objects::by_step(&[deployment, service], false).remove(&Step::Main).unwrap();
        check(&objects.services[0], &objects.workloads).err()
    }

    #[test]
    fn a_service_leads_where_its_pods_listen() {
        let ports = |port: u16, target: &str| json!([{"port": port, "targetPort": target}]);
        let right = json!({"selector": {"a": "b"}, "ports": ports(80, "grpc")});
        assert_eq!(problem(right), None);
        let headless =
            |port| json!({"clusterIP": "None", "selector": {"a": "b"}, "ports": ports(port, "grpc")});
        assert_eq!(problem(headless(50051)), None);
        assert!(problem(headless(80)).unwrap().contains("the port 80 of the service"));
        let unnamed = json!({"selector": {"a": "b"}, "ports": ports(80, "metrics")});
        assert!(problem(unnamed).unwrap().contains("have None there"));
        let nobody = json!({"selector": {"a": "c"}, "ports": ports(80, "grpc")});
        assert!(problem(nobody).unwrap().contains("selects no pods"));
    }
}
