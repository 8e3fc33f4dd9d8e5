//! Probes, as kubelet makes them: from outside of the pod, at its address.

use super::spec::{self, HttpGet, Port};
use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use tokio::{net::TcpStream, time::timeout};
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// Tests look more often than is rendered. A failure must last as long as is rendered all the same, since a busy
/// machine is no failure.
const LONGEST_PERIOD: Duration = Duration::from_millis(250);

/// The probes of a container.
#[derive(Debug, Clone)]
pub(super) struct Probes {
    startup: Option<Probe>,
    readiness: Option<Probe>,
    liveness: Option<Probe>,
}

#[derive(Debug, Clone)]
struct Probe {
    ask: Ask,
    delay: Duration,
    period: Duration,
    timeout: Duration,
    failures: u64,
    successes: u64,
}

#[derive(Debug, Clone)]
enum Ask {
    Http(SocketAddr, String),
    Grpc(SocketAddr, String),
    Tcp(SocketAddr),
}

impl Probes {
    /// Those of a container at an address.
    pub(super) fn of(container: &spec::Container, address: Ipv4Addr) -> Self {
        let probe =
            |probe: &Option<spec::Probe>| probe.as_ref().map(|probe| Probe::new(probe, container, address));
        Self {
            startup: probe(&container.startup_probe),
            readiness: probe(&container.readiness_probe),
            liveness: probe(&container.liveness_probe),
        }
    }

    /// Makes them until the container must be started again, and says why.
    pub(super) async fn watch(&self, set_ready: impl Fn(bool)) -> String {
        if let Some(startup) = &self.startup
            && let Err(why) = startup.until(true).await
        {
            return format!("it did not start: {why}");
        }
        let readiness = async {
            let Some(readiness) = &self.readiness else {
                set_ready(true);
                return std::future::pending::<String>().await;
            };
            loop {
                if readiness.until(true).await.is_ok() {
                    set_ready(true);
                    let _unready = readiness.until(false).await;
                    set_ready(false);
                }
            }
        };
        let liveness = async {
            match &self.liveness {
                Some(liveness) => liveness.until(false).await.err().unwrap_or_default(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            why = readiness => why,
            why = liveness => format!("it is not alive: {why}"),
        }
    }
}

impl Probe {
    fn new(probe: &spec::Probe, container: &spec::Container, address: Ipv4Addr) -> Self {
        let at = |port: &Port| match container.port(port) {
            Some(number) => SocketAddr::from((address, number)),
            None => panic!("{}: a probe asks at {port:?}, which is no port of it", container.name),
        };
        let ask = match (&probe.http_get, &probe.grpc, &probe.tcp_socket) {
            (Some(HttpGet { path, port, scheme }), None, None) => {
                assert!(scheme.as_deref().unwrap_or("HTTP") == "HTTP", "{}: probes over TLS", container.name);
                Ask::Http(at(port), path.clone())
            }
            (None, Some(grpc), None) => Ask::Grpc(at(&Port::Number(grpc.port)), grpc.service.clone()),
            (None, None, Some(socket)) => Ask::Tcp(at(&socket.port)),
            _ => panic!("{}: a probe is of no kind, or of several", container.name),
        };
        let rendered = Duration::from_secs(probe.period_seconds);
        let period = rendered.min(LONGEST_PERIOD);
        let lasting = rendered.as_millis() / period.as_millis().max(1);
        Self {
            ask,
            delay: Duration::from_secs(probe.initial_delay_seconds).min(LONGEST_PERIOD),
            period,
            timeout: Duration::from_secs(probe.timeout_seconds),
            failures: probe.failure_threshold * u64::try_from(lasting).unwrap_or(u64::MAX),
            successes: probe.success_threshold,
        }
    }

    /// Asks until it has succeeded often enough, where `success` is awaited, or has failed so.
    async fn until(&self, success: bool) -> Result<(), String> {
        tokio::time::sleep(self.delay).await;
        let (mut successes, mut failures) = (0, 0);
        loop {
            match self.once().await {
                Ok(()) => (successes, failures) = (successes + 1, 0),
                Err(why) => {
                    (successes, failures) = (0, failures + 1);
                    if failures >= self.failures {
                        return Err(why);
                    }
                }
            }
            if success && successes >= self.successes {
                return Ok(());
            }
            tokio::time::sleep(self.period).await;
        }
    }

    async fn once(&self) -> Result<(), String> {
        let asked = timeout(self.timeout, self.ask.once()).await;
        asked.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.timeout)))
    }
}

impl Ask {
    async fn once(&self) -> Result<(), String> {
        match self {
            Self::Http(address, path) => match signalbox_testkit::get(*address, path).await {
                Ok((200..400, _)) => Ok(()),
                Ok((status, body)) => Err(format!("{path}: {status} {body}")),
                Err(error) => Err(format!("{path}: {error}")),
            },
            Self::Grpc(address, service) => serving(*address, service).await,
            Self::Tcp(address) => {
                TcpStream::connect(address).await.map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

async fn serving(address: SocketAddr, service: &str) -> Result<(), String> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(|error| error.to_string())?;
    let channel = endpoint.connect().await.map_err(|error| format!("{address}: {error}"))?;
    let request = HealthCheckRequest { service: service.to_owned() };
    match HealthClient::new(channel).check(request).await {
        Ok(answer) if answer.get_ref().status() == ServingStatus::Serving => Ok(()),
        Ok(answer) => Err(format!("{:?}", answer.get_ref().status())),
        Err(status) => Err(status.to_string()),
    }
}
