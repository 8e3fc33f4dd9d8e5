//! One Signalbox process.

use crate::{Key, Keyed, built, get, metrics::Metrics, process::Process, up::UpProcess};
use rustix::process::Signal;
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
use tonic::{
    service::interceptor::InterceptedService,
    transport::{Channel, Endpoint},
};

/// A client of the public service.
pub type Client = RouterServiceClient<Keyed>;

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

/// A process of `signalbox serve`. Killed when dropped, unless it is one of a system that is up.
#[derive(Debug)]
pub struct Signalbox {
    options: Options,
    life: Life,
    metrics: SocketAddr,
    channel: Channel,
    /// Who calls where a test does not say it.
    caller: Key,
    /// What it keeps, also over a restart.
    data: PathBuf,
}

/// Whose it is.
#[derive(Debug)]
enum Life {
    Own { process: Process, _data: TempDir },
    Up(UpProcess),
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
        let (channel, caller) = (connect(options.listen), Key::new(""));
        let path = data.path().to_owned();
        Self { options, life: Life::Own { process, _data: data }, metrics, channel, caller, data: path }
    }

    /// A process of a system that is up, and where it says that it listens.
    pub(crate) fn of_up(process: UpProcess, says: &Value, caller: Key) -> Self {
        let more = |key: &str| says[key].is_string().then(|| address(says, key));
        let options = Options {
            listen: address(says, "clients"),
            internal_listen: more("internal"),
            health_listen: more("health"),
            ..Options::default()
        };
        let data = PathBuf::from(says["data"].as_str().unwrap_or_default());
        let (metrics, channel) = (address(says, "metrics"), connect(options.listen));
        Self { options, life: Life::Up(process), metrics, channel, caller, data }
    }

    /// Starts it again, on the same port, after it has ended.
    pub async fn restart(&mut self) {
        match &mut self.life {
            Life::Own { process, .. } => {
                *process = Process::start("restarted", command(&self.options, &self.data)).await;
                self.metrics = address(process.ready(), "metrics");
            }
            Life::Up(process) => process.restart().await,
        }
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
        &self.data
    }

    /// The accounts in its spool, oldest first.
    pub fn accounts(&self) -> Vec<UsageEvent> {
        let spool = if self.options.roles == "adapter" { "spool-adapter" } else { "spool" };
        signalbox_spool::peek(&self.data.join(spool)).unwrap_or_else(|error| panic!("{spool}: {error}"))
    }

    /// A connection to it, made when first used and again when lost. Its calls carry no key, or its operator's where they
    /// must have one.
    pub fn channel(&self) -> Keyed {
        self.way(self.caller.clone())
    }

    /// The key of its operator; empty where none is needed.
    pub fn operators_key(&self) -> &str {
        self.caller.secret()
    }

    /// A connection on which each call carries this key; none where it is empty.
    pub fn keyed(&self, key: &str) -> Keyed {
        self.way(Key::new(key))
    }

    fn way(&self, key: Key) -> Keyed {
        InterceptedService::new(self.channel.clone(), key)
    }

    /// A client of its public service.
    pub fn client(&self) -> Client {
        self.client_with(self.caller.clone())
    }

    /// The same, with a key.
    pub(crate) fn client_with(&self, key: Key) -> Client {
        Client::new(self.way(key)).max_decoding_message_size(LARGEST_ANSWER)
    }

    /// A client for operators.
    pub fn admin(&self) -> AdminServiceClient<Keyed> {
        AdminServiceClient::new(self.channel())
    }

    /// What it said when it was ready.
    pub fn banner(&self) -> &Value {
        match &self.life {
            Life::Own { process, .. } => process.ready(),
            Life::Up(_) => &Value::Null,
        }
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        match &self.life {
            Life::Own { process, .. } => process.log(),
            Life::Up(process) => process.log(),
        }
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
        self.send(Signal::STOP);
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.send(Signal::CONT);
    }

    /// Asks it to drain and end (SIGTERM).
    pub fn terminate(&self) {
        self.send(Signal::TERM);
    }

    fn send(&self, signal: Signal) {
        match &self.life {
            Life::Own { process, .. } => process.send(signal),
            Life::Up(process) => process.send(signal),
        }
    }

    /// Ends it at once (SIGKILL).
    pub async fn kill(&mut self) {
        match &mut self.life {
            Life::Own { process, .. } => process.kill().await,
            Life::Up(process) => {
                process.send(Signal::KILL);
                process.ended().await;
            }
        }
    }

    /// Waits until it has ended. How one of a system that is up has ended nobody can tell any more: that counts as well.
    pub async fn ended(&mut self) -> ExitStatus {
        match &mut self.life {
            Life::Own { process, .. } => process.ended().await,
            Life::Up(process) => {
                process.ended().await;
                ExitStatus::default()
            }
        }
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
