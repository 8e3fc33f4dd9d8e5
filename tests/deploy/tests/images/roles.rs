//! What the image and the compose file say is started as they say it: the same commands, users, variables, mounts and
//! health checks. Engines are those that tests have here; names lead to them and to the roles.

use super::{
    compose::{self, Compose, Service},
    container::{Container, Running},
    dockerfile,
};
use signalbox_api::v1::{cache_effect::Outcome, router_service_client::RouterServiceClient};
use signalbox_deploy::cluster::privately;
use signalbox_testkit::{
    ClickHouseEngine, PostgresServer, RedisServer, ask::request, built, eventually, get, tool,
};
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    process::Stdio,
};
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};
use tonic::Request;

const ADMIN_KEY: &str = "the-key-of-a-deployment-made-for-a-test";

#[test]
fn the_image_alone_does_not_start_before_callers_are_authenticated() {
    alone(refuses_to_start);
}

async fn refuses_to_start() {
    let container = Container::of_the_image();
    let output = container.run(&dockerfile::last().one("CMD").list()).await;
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("SIGNALBOX_ADMIN_KEY"), "{said}");
}

#[test]
fn the_image_alone_serves_is_healthy_and_writes_only_to_its_volume() {
    alone(serves_from_its_volume);
}

async fn serves_from_its_volume() {
    let mut container = Container::of_the_image();
    container.set("SIGNALBOX_ADMIN_KEY", ADMIN_KEY);
    let last = dockerfile::last();
    let mut running = container.serve(&last.one("CMD").list()).await;
    let check = last.one("HEALTHCHECK").rest.strip_prefix("CMD ").unwrap().to_owned();
    let check: Vec<String> = serde_json::from_str(&check).unwrap();
    eventually("its own health check passes", || async { running.exec(&check).await.status.success() }).await;
    assert_eq!(running.banner["listening"], "0.0.0.0:50051");
    assert_eq!(
        running.volume(),
        [
            "batches.db",
            "batches.db-shm",
            "batches.db-wal",
            "budgets.db",
            "budgets.db-shm",
            "budgets.db-wal",
            "spool",
            "usage.db",
            "usage.db-shm",
            "usage.db-wal"
        ]
    );
    assert!(running.stop().await.unwrap().success());
}

/// Runs a test on a network that nobody else is in, so that ports are free, and ends all it started.
fn alone<F: Future<Output = ()>>(body: impl FnOnce() -> F) {
    privately(|_folder| async {
        let lo = Command::new("ip").args(["link", "set", "lo", "up"]).status().await.unwrap();
        assert!(lo.success());
        body().await;
    });
}

/// Every service on an address of its own, with the ports that it has in its container.
struct Names(BTreeMap<String, Ipv4Addr>);

impl Names {
    fn of(compose: &Compose) -> Self {
        // All of 127.0.0.0/8 is this machine.
        let address = |number: usize| Ipv4Addr::new(127, 0, 1, u8::try_from(number).unwrap() + 1);
        let services = compose.services().enumerate();
        Self(services.map(|(number, service)| (service.name.to_owned(), address(number))).collect())
    }

    fn at(&self, name: &str, port: u16) -> SocketAddr {
        SocketAddrV4::new(self.0[name], port).into()
    }

    /// As /etc/hosts has them.
    fn hosts(&self) -> String {
        self.0.iter().map(|(name, address)| format!("{address} {name}\n")).collect()
    }

    /// Leads a service's port to an engine, for as long as the test runs.
    async fn lead(&self, name: &str, port: u16, to: u16) {
        let listener = TcpListener::bind(self.at(name, port)).await.unwrap();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let engine = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await;
                    copy_bidirectional(&mut connection, &mut engine?).await
                });
            }
        });
    }
}

/// What the roles stand on, started by the commands of the compose file where they take commands.
struct Engines {
    _postgres: PostgresServer,
    _redis: [(RedisServer, TempDir); 2],
    _clickhouse: ClickHouseEngine,
    _nats: (Child, TempDir),
}

impl Engines {
    async fn start(compose: &Compose, names: &Names) -> Self {
        let (postgres, clickhouse, redis, cache, nats) = tokio::join!(
            PostgresServer::start(),
            ClickHouseEngine::start(),
            redis(compose, "redis", &[]),
            async {
                let search = tool("redis-server").with_file_name("redisearch.so");
                redis(compose, "redis-cache", &["--loadmodule", &search.to_string_lossy()]).await
            },
            nats(compose.service("nats"), names),
        );
        let database = compose.service("postgres").environment()["POSTGRES_DB"].clone();
        postgres.database(&database).await;
        names.lead("postgres", 5432, postgres.port()).await;
        names.lead("redis", 6379, redis.0.port()).await;
        names.lead("redis-cache", 6379, cache.0.port()).await;
        let url = clickhouse.url();
        names.lead("clickhouse", 8123, url.rsplit_once(':').unwrap().1.parse().unwrap()).await;
        Self { _postgres: postgres, _redis: [redis, cache], _clickhouse: clickhouse, _nats: nats }
    }
}

/// By its command, with the file that it includes from a folder. Whoever has no password is not let in.
async fn redis(compose: &Compose, name: &str, more: &[&str]) -> (RedisServer, TempDir) {
    let (service, folder) = (compose.service(name), tempfile::tempdir().unwrap());
    let mut command = service.strings("command");
    assert_eq!(command.remove(0), "redis-server");
    for (number, (target, content)) in compose.inline(service).into_iter().enumerate() {
        let file = folder.path().join(number.to_string());
        std::fs::write(&file, content).unwrap();
        command
            .iter_mut()
            .filter(|word| **word == target)
            .for_each(|word| *word = file.display().to_string());
    }
    let arguments: Vec<&str> = command.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let server = RedisServer::with(&arguments).await;
    assert!(server.say("PING").await.starts_with("-NOAUTH"), "{name} lets everybody in");
    (server, folder)
}

/// By its command, with the configuration file from where it is mounted and a folder in place of the volume.
async fn nats(service: Service<'_>, names: &Names) -> (Child, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let binds = service.binds();
    let volume = service.volumes().find(|volume| volume["type"] == "volume").unwrap();
    let seen = |argument: String| {
        let bind = binds.iter().find(|bind| bind.target == argument).map(|bind| bind.source.as_path());
        let seen = bind.or_else(|| (volume["target"] == argument.as_str()).then_some(folder.path()));
        seen.map_or(argument, |seen| seen.to_string_lossy().into_owned())
    };
    let mut command = Command::new(tool("nats-server"));
    command.args(service.strings("command").into_iter().map(seen));
    command.args(["--addr", &names.0["nats"].to_string()]).envs(service.environment());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let child = command.spawn().unwrap();
    // As its health check asks.
    let healthy =
        || async { get(names.at("nats", 8222), "/healthz").await.is_ok_and(|(status, _)| status == 200) };
    eventually("nats is healthy", healthy).await;
    (child, folder)
}

/// A container of a role: the image, and what the compose file says of it.
fn container(service: Service<'_>, names: &Names) -> Container {
    let mut container = Container::of_the_image();
    for bind in service.binds() {
        container.mount("ro", &bind.source, &bind.target);
    }
    container.file("/etc/hosts", &names.hosts());
    container.file("/etc/nsswitch.conf", "hosts: files\n");
    service.environment().iter().for_each(|(name, value)| container.set(name, value));
    container
}

/// A role, healthy by its own health check. It listens on one address, since here all share a network.
async fn role(compose: &Compose, name: &str, names: &Names) -> Running {
    let service = compose.service(name);
    let mut command = service.strings("command");
    for (flag, port) in [("--listen", 50051), ("--health-listen", 50053), ("--metrics-listen", 9464)] {
        command.extend([flag.to_owned(), names.at(name, port).to_string()]);
    }
    container(service, names).serve(&command).await
}

async fn is_healthy(compose: &Compose, name: &str, running: &Running, names: &Names) {
    let check = compose.service(name).health_check().unwrap();
    let own = names.0[name].to_string();
    let check: Vec<String> = check[1..].iter().map(|word| word.replace("127.0.0.1", &own)).collect();
    eventually(&format!("{name} is healthy"), || async { running.exec(&check).await.status.success() }).await;
}

/// What an operator types at a server.
async fn operator(server: SocketAddr, key: &str, command: &[&str]) -> Result<String, String> {
    let mut program = Command::new(built("signalbox"));
    program.args(command).env_clear().env("SIGNALBOX_SERVER", format!("http://{server}"));
    let output = program.env("SIGNALBOX_API_KEY", key).output().await.unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn what_compose_starts_serves_accounts_and_remembers() {
    alone(starts_what_compose_starts);
}

async fn starts_what_compose_starts() {
    let mut values = compose::values();
    values.insert("POSTGRES_PASSWORD".to_owned(), PostgresServer::PASSWORD.to_owned());
    values.insert("CLICKHOUSE_PASSWORD".to_owned(), ClickHouseEngine::PASSWORD.to_owned());
    let compose = Compose::with(&values);
    let names = Names::of(&compose);
    let _engines = Engines::start(&compose, &names).await;

    let migrate = compose.service("migrate");
    let migrated = container(migrate, &names).run(&migrate.strings("command")).await;
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));

    let mut running = Vec::new();
    for name in ["adapter", "ingest", "router", "batch"] {
        running.push((name, role(&compose, name, &names).await));
    }
    for (name, process) in &running {
        is_healthy(&compose, name, process, &names).await;
        let (status, _) = get(names.at(name, 9464), "/metrics").await.unwrap();
        assert_eq!(status, 200, "Prometheus finds {name}");
    }
    a_tenant_is_served(&names, &values["SIGNALBOX_ADMIN_KEY"]).await;
    for (name, process) in running.iter_mut().rev() {
        assert!(process.stop().await.unwrap().success(), "{name}");
    }
}

async fn a_tenant_is_served(names: &Names, admin_key: &str) {
    let (router, ingest) = (names.at("router", 50051), names.at("ingest", 50051));
    operator(router, admin_key, &["tenant", "create", "newsroom"]).await.unwrap();
    let budget = ["budget", "create", "--tenant", "newsroom", "monthly", "--limit", "10"];
    operator(router, admin_key, &budget).await.unwrap();
    let key = operator(router, admin_key, &["key", "create", "--tenant", "newsroom"]).await.unwrap();

    let nobody = operator(router, "", &["chat", "Say hello."]).await.unwrap_err();
    assert!(nobody.contains("UNAUTHENTICATED"), "{nobody}");
    assert!(!operator(router, &key, &["chat", "Say hello."]).await.unwrap().is_empty());
    assert_eq!(outcome(router, &key).await, Outcome::Miss);
    eventually("the answer is remembered", || async { outcome(router, &key).await == Outcome::ExactHit })
        .await;

    let query = ["usage", "query", "--last", "1h", "--by", "tenant"];
    let stored =
        || async { operator(ingest, admin_key, &query).await.is_ok_and(|told| told.contains("newsroom")) };
    eventually("the accounts are stored", stored).await;
    let show = ["budget", "show", "--tenant", "newsroom", "monthly"];
    let settled = || async {
        let told = operator(router, admin_key, &show).await.unwrap();
        told.lines().any(|line| line.starts_with("spent ") && !line.ends_with("€0.00"))
    };
    eventually("the ledger knows what was spent", settled).await;
}

/// How the same request meets the cache.
async fn outcome(router: SocketAddr, key: &str) -> Outcome {
    let mut client = RouterServiceClient::connect(format!("http://{router}")).await.unwrap();
    let mut request = Request::new(request("fast", "Name the longest river of Italy."));
    request.get_mut().task_type = "summary".to_owned();
    request.metadata_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
    let answer = client.generate(request).await.unwrap().into_inner();
    answer.route.unwrap().cache.unwrap().outcome()
}
