//! The ledger of budgets is moved, lost and restored.

use signalbox_api::v1::{
    ReconcileLedgerRequest, ReconcileLedgerResponse, router_service_client::RouterServiceClient,
};
use signalbox_kit::{Clock as _, SystemClock};
use signalbox_testkit::{
    Options, PostgresServer, Signalbox, ask::request, built, eventually, eventually_some,
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    process::Command,
    sync::watch,
};
use tonic::Request;

const ADMIN_KEY: &str = "the-key-of-a-deployment-made-for-a-test";

/// The name of the database server, which leads elsewhere once it was restored elsewhere.
struct Name {
    address: SocketAddr,
    leads_to: Arc<Mutex<u16>>,
    moved: watch::Sender<()>,
}

impl Name {
    async fn of(postgres: &PostgresServer) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let (address, leads_to) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(postgres.port())));
        let moved = watch::Sender::new(());
        let (port, cut) = (leads_to.clone(), moved.clone());
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let (port, mut cut) = (*port.lock().unwrap(), cut.subscribe());
                tokio::spawn(async move {
                    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
                    tokio::select! {
                        carried = copy_bidirectional(&mut connection, &mut server) => carried.map(drop),
                        _ = cut.changed() => Ok(()),
                    }
                });
            }
        });
        Self { address, leads_to, moved }
    }

    fn lead_to(&self, postgres: &PostgresServer) {
        *self.leads_to.lock().unwrap() = postgres.port();
        self.moved.send_replace(());
    }
}

/// All roles in one process, whose ledger is in PostgreSQL and whose accounts are in a file.
struct Desk {
    signalbox: Signalbox,
    key: String,
    _folder: TempDir,
}

impl Desk {
    async fn open(postgres: &Name) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("signalbox.yaml");
        let url = format!("postgres://{}@{}/postgres", PostgresServer::USER, postgres.address);
        let store = format!("{{postgres: {{url: '{url}', password: {{env: POSTGRES_PASSWORD}}}}}}");
        std::fs::write(&config, format!("budgets: {{store: {store}}}\ncache: {{enabled: false}}\n")).unwrap();
        let env = [("SIGNALBOX_ADMIN_KEY", ADMIN_KEY), ("POSTGRES_PASSWORD", PostgresServer::PASSWORD)];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let signalbox = Signalbox::serve(Options { config: Some(config), env, ..Options::default() }).await;
        eventually("it is ready", || async { signalbox.ready().await.is_ok() }).await;
        let mut desk = Self { signalbox, key: String::new(), _folder: folder };
        desk.operator(&["tenant", "create", "newsroom"]).await.unwrap();
        let budget = ["budget", "create", "--tenant", "newsroom", "monthly", "--limit", "10"];
        desk.operator(&budget).await.unwrap();
        desk.key = desk.operator(&["key", "create", "--tenant", "newsroom"]).await.unwrap();
        desk
    }

    /// What an operator types.
    async fn operator(&self, command: &[&str]) -> Result<String, String> {
        let mut program = Command::new(built("signalbox"));
        program.args(command).env_clear().env("SIGNALBOX_SERVER", self.signalbox.address().to_string());
        let output = program.env("SIGNALBOX_API_KEY", ADMIN_KEY).output().await.unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        match output.status.success() {
            true => Ok(said.trim().to_owned()),
            false => Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// A request by an id, and what it cost in nano-EUR.
    async fn ask(&self, id: &str, key: &str) -> Result<i64, tonic::Status> {
        let mut request = Request::new(request("openai/gpt-6-luna", "Write a headline."));
        request.get_mut().request_id = id.to_owned();
        request.metadata_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
        let answer = RouterServiceClient::new(self.signalbox.channel()).generate(request).await?.into_inner();
        Ok(answer.route.unwrap().total_cost.unwrap().nano_eur)
    }

    async fn served(&self, ids: &[&str]) -> i64 {
        let mut cost = 0;
        for id in ids {
            cost += self.ask(id, &self.key).await.unwrap();
        }
        cost
    }

    /// What ledger and usage store say to each other once so many requests are in one of them or in both.
    async fn compared(&self, requests: u64, differences: usize) -> ReconcileLedgerResponse {
        let start = SystemClock.now() - Duration::from_secs(1800);
        eventually_some("ledger and usage store are as they should be", || async {
            let (start_time, end_time) = (Some(start.into()), Some(SystemClock.now().into()));
            let request =
                ReconcileLedgerRequest { start_time, end_time, ..ReconcileLedgerRequest::default() };
            let found = self.signalbox.budgets(ADMIN_KEY).reconcile_ledger(request).await.ok()?.into_inner();
            (found.requests == requests && found.differences.len() == differences).then_some(found)
        })
        .await
    }
}

#[tokio::test]
async fn a_ledger_is_moved_to_another_server_while_nobody_writes_and_nothing_is_lost() {
    let old = PostgresServer::start().await;
    let name = Name::of(&old).await;
    let mut desk = Desk::open(&name).await;
    desk.served(&["before-1", "before-2"]).await;
    desk.signalbox.terminate();
    assert!(desk.signalbox.ended().await.success());

    let new = PostgresServer::start().await;
    new.restore(&old.dump().await).await;
    name.lead_to(&new);
    drop(old);

    desk.signalbox.restart().await;
    eventually("it is ready", || async { desk.signalbox.ready().await.is_ok() }).await;
    desk.served(&["after-1"]).await;
    let found = desk.compared(3, 0).await;
    assert_eq!(found.ledger_nano_eur, found.usage_nano_eur);
}

#[tokio::test]
async fn after_a_restore_everybody_goes_on_and_reconcile_names_each_request_that_the_backup_lacks() {
    let mut lost = PostgresServer::start().await;
    let name = Name::of(&lost).await;
    let desk = Desk::open(&name).await;
    let before = desk.served(&["before-1", "before-2"]).await;
    desk.compared(2, 0).await;
    let backup = lost.dump().await;

    let after = desk.served(&["after-1", "after-2"]).await;
    desk.compared(4, 0).await;
    lost.kill().await;
    // It is served from what the router holds, and settled once there is a ledger again.
    let meanwhile = desk.served(&["meanwhile"]).await;
    let new = PostgresServer::start().await;
    new.restore(&backup).await;
    name.lead_to(&new);

    let found = desk.compared(5, 2).await;
    let named: Vec<&str> = found.differences.iter().map(|difference| &*difference.request_id).collect();
    assert_eq!(named, ["after-1", "after-2"]);
    assert_eq!(found.ledger_nano_eur, before + meanwhile);
    assert_eq!(found.usage_nano_eur, before + after + meanwhile);
    // Nothing had to be started again.
    let later = desk.served(&["later"]).await;
    assert_eq!(desk.compared(6, 2).await.ledger_nano_eur, before + meanwhile + later);
}

#[tokio::test]
async fn a_key_that_was_revoked_after_the_backup_opens_again_until_it_is_revoked_again() {
    let mut lost = PostgresServer::start().await;
    let name = Name::of(&lost).await;
    let desk = Desk::open(&name).await;
    let backup = lost.dump().await;
    let (id, _) = desk.key.trim_start_matches("sbx_").split_once('_').unwrap();
    let revoke = ["key", "revoke", "--tenant", "newsroom", id];
    let is_open = || async { desk.ask("knock", &desk.key).await.is_ok() };
    desk.operator(&revoke).await.unwrap();
    eventually("the key opens nothing", || async { !is_open().await }).await;
    lost.kill().await;

    let new = PostgresServer::start().await;
    new.restore(&backup).await;
    name.lead_to(&new);
    eventually("the key opens again", is_open).await;
    desk.operator(&revoke).await.unwrap();
    eventually("the key opens nothing", || async { !is_open().await }).await;
}
