//! One Signalbox process.

use crate::{built, get, metrics::Metrics, process::Process};
use serde_json::Value;
use signalbox_api::v1::{
    UsageEvent, admin_service_client::AdminServiceClient, router_service_client::RouterServiceClient,
};
use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::{Path, PathBuf},
    process::ExitStatus,
};
use tempfile::TempDir;
use tokio::process::Command;
use tonic::transport::{Channel, Endpoint};

/// A client of the public service.
pub type Client = RouterServiceClient<Channel>;

/// Answers up to this size are taken.
const LARGEST_ANSWER: usize = 64 << 20;

/// How a process is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its configuration file.
    pub config: Option<PathBuf>,
    /// Roles, as on the command line; all where empty.
    pub roles: &'static str,
    /// Its whole environment: nothing of the tester's own reaches it.
    pub env: Vec<(String, String)>,
    /// Where it listens for gRPC. Port 0 takes a free one; a restart keeps it.
    pub listen: SocketAddr,
    /// The same for other roles, where its configuration has certificates.
    pub internal_listen: Option<SocketAddr>,
    /// The same for health alone.
    pub health_listen: Option<SocketAddr>,
}

impl Options {
    /// A free port, of this machine alone.
    pub const FREE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));
}

impl Default for Options {
    fn default() -> Self {
        Self {
            config: None,
            roles: "",
            env: Vec::new(),
            listen: Self::FREE,
            internal_listen: None,
            health_listen: None,
        }
    }
}

/// A process of `signalbox serve`. Killed when dropped.
#[derive(Debug)]
pub struct Signalbox {
    options: Options,
    process: Process,
    metrics: SocketAddr,
    channel: Channel,
    /// What it keeps, also over a restart.
    data: TempDir,
}

impl Signalbox {
    /// Starts a process and waits until it listens.
    pub async fn serve(mut options: Options) -> Self {
        let name = if options.roles.is_empty() { "signalbox" } else { options.roles };
        let data = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let process = Process::start(name, command(&options, data.path())).await;
        options.listen = address(process.ready(), "listening");
        for (listen, name) in
            [(&mut options.internal_listen, "internal"), (&mut options.health_listen, "health")]
        {
            *listen = listen.map(|_| address(process.ready(), name));
        }
        let metrics = address(process.ready(), "metrics");
        let channel = connect(options.listen);
        Self { options, process, metrics, channel, data }
    }

    /// Starts it again, on the same port, after it has ended.
    pub async fn restart(&mut self) {
        self.process = Process::start("restarted", command(&self.options, self.data.path())).await;
        self.metrics = address(self.process.ready(), "metrics");
    }

    /// Where it listens for gRPC.
    pub fn address(&self) -> SocketAddr {
        self.options.listen
    }

    /// Where other processes find its roles, as in their `peers`: over TLS where it has certificates.
    pub fn peer(&self) -> String {
        match self.options.internal_listen {
            Some(internal) => format!("https://{internal}"),
            None => format!("http://{}", self.options.listen),
        }
    }

    /// Where it listens for other roles, with certificates.
    pub fn internal_address(&self) -> Option<SocketAddr> {
        self.options.internal_listen
    }

    /// Where it listens for health checks alone.
    pub fn health_address(&self) -> Option<SocketAddr> {
        self.options.health_listen
    }

    /// Where it keeps what must survive it.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// The accounts in its spool, oldest first.
    pub fn accounts(&self) -> Vec<UsageEvent> {
        let spool = if self.options.roles == "adapter" { "spool-adapter" } else { "spool" };
        signalbox_spool::peek(&self.data.path().join(spool))
            .unwrap_or_else(|error| panic!("{spool}: {error}"))
    }

    /// A connection to it, made when first used and again when lost.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// A client of its public service.
    pub fn client(&self) -> Client {
        Client::new(self.channel()).max_decoding_message_size(LARGEST_ANSWER)
    }

    /// A client for operators.
    pub fn admin(&self) -> AdminServiceClient<Channel> {
        AdminServiceClient::new(self.channel())
    }

    /// What it said when it was ready.
    pub fn banner(&self) -> &Value {
        self.process.ready()
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// Its metrics now; nothing while it is away.
    pub async fn metrics(&self) -> Metrics {
        Metrics::new(get(self.metrics, "/metrics").await.map(|(_, text)| text).unwrap_or_default())
    }

    /// Whether it says that it is ready, or what is missing.
    ///
    /// # Errors
    /// What is missing.
    pub async fn ready(&self) -> Result<(), String> {
        match get(self.metrics, "/readyz").await {
            Ok((200, _)) => Ok(()),
            Ok((_, missing)) => Err(missing),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether it says that it is alive.
    pub async fn alive(&self) -> bool {
        get(self.metrics, "/livez").await.is_ok_and(|(status, _)| status == 200)
    }

    /// Lets it stand still (SIGSTOP): its connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.process.freeze();
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.process.thaw();
    }

    /// Asks it to drain and end (SIGTERM).
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Ends it at once (SIGKILL).
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self) -> ExitStatus {
        self.process.ended().await
    }
}

fn command(options: &Options, data: &Path) -> Command {
    let mut command = Command::new(built("signalbox"));
    command.arg("serve").args(["--listen", &options.listen.to_string()]);
    command.args(["--metrics-listen", "127.0.0.1:0"]);
    for (flag, listen) in
        [("--internal-listen", options.internal_listen), ("--health-listen", options.health_listen)]
    {
        if let Some(listen) = listen {
            command.arg(flag).arg(listen.to_string());
        }
    }
    if let Some(config) = &options.config {
        command.arg("--config").arg(config);
    }
    if !options.roles.is_empty() {
        command.args(["--role", options.roles]);
    }
    command
        .env_clear()
        .env("RUST_BACKTRACE", "1")
        .env("SIGNALBOX_DATA_DIR", data)
        .envs(options.env.iter().cloned());
    command
}

fn address(banner: &Value, key: &str) -> SocketAddr {
    let found = banner.get(key).and_then(Value::as_str).and_then(|text| text.parse().ok());
    found.unwrap_or_else(|| panic!("no address `{key}` in {banner}"))
}

fn connect(address: SocketAddr) -> Channel {
    match Endpoint::from_shared(format!("http://{address}")) {
        Ok(endpoint) => endpoint.tcp_nodelay(true).connect_lazy(),
        Err(error) => panic!("{address}: {error}"),
    }
}
