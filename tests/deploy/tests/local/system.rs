//! The system, as its operator sees it.

use signalbox_api::v1::{
    Budget, CreateBudgetRequest,
    budget::{Enforcement, Period},
    budget_service_client::BudgetServiceClient,
};
use signalbox_chaos::up::{Caller, Operator};
use signalbox_local::{Folder, Kind, Part, Purpose, Stack, processes};
use signalbox_testkit::{built, workspace};
use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Command,
};

/// What a program said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) good: bool,
    pub(super) says: String,
    pub(super) errors: String,
}

/// Runs the program of `make up` to its end.
pub(super) async fn local(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = Command::new(built("local"));
    command.arg("--folder").arg(folder).args(arguments);
    run(command).await
}

/// Runs a program to its end.
pub(super) async fn run(mut command: Command) -> Said {
    let output = command.stdin(Stdio::null()).current_dir(workspace()).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { good: output.status.success(), says: text(output.stdout), errors: text(output.stderr) }
}

/// The system. It is ended when dropped, come what may.
pub(super) struct System {
    parent: TempDir,
    pub(super) stack: Stack,
    /// What was said when it was up.
    pub(super) banner: String,
}

impl System {
    pub(super) async fn up() -> Self {
        // Whoever is ended stays as a zombie, as in a container whose first process asks for nobody.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("local");
        let up = local(&folder, &["up", "--base-port", "0"]).await;
        assert!(up.good, "{}", up.errors);
        let stack = Stack::load(&Folder::at(&folder).unwrap()).unwrap().unwrap();
        Self { parent, stack, banner: up.says }
    }

    /// Runs the program on this system.
    pub(super) async fn local(&self, arguments: &[&str]) -> Said {
        local(self.stack.folder().path(), arguments).await
    }

    /// Runs `signalbox` as whom the key belongs to.
    pub(super) async fn signalbox(&self, key: &str, arguments: &[&str]) -> Said {
        let mut command = Command::new(built("signalbox"));
        command.args(arguments).env("SIGNALBOX_API_KEY", key);
        run(command).await
    }

    /// Who runs it.
    pub(super) fn operator(&self) -> Operator<'_> {
        Operator(&self.stack)
    }

    /// An application of a tenant, which is made.
    pub(super) async fn application(&self, tenant_id: &str) -> Caller {
        Caller::new(&self.stack, &self.operator().key(tenant_id).await.unwrap()).unwrap()
    }

    /// Lets a tenant spend so much and no more.
    pub(super) async fn limit(&self, tenant_id: &str, limit_nano_eur: i64) {
        let budget = Budget {
            budget_id: "all".to_owned(),
            tenant_id: tenant_id.to_owned(),
            period: Period::Prepaid.into(),
            enforcement: Enforcement::Hard.into(),
            limit_nano_eur,
            ..Budget::default()
        };
        let mut client = BudgetServiceClient::new(self.operator().way(Kind::Budget).unwrap());
        client.create_budget(CreateBudgetRequest { budget: Some(budget) }).await.unwrap();
    }

    /// Tells the simulated vendors how to answer from now on.
    pub(super) async fn fault(&self, fault: &str) {
        let vendors = Part { kind: Kind::Vendors, number: 1 };
        let address = self.stack.ports().address(vendors, Purpose::Clients);
        let rule = format!("{{\"fault\": \"{fault}\"}}");
        let length = rule.len();
        let asked = format!(
            "POST /_sim/faults HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{rule}"
        );
        let answer = http(address, &asked).await;
        assert!(answer.starts_with("HTTP/1.1 2") || answer.starts_with("HTTP/1.0 2"), "{answer}");
    }

    /// Ends it, and looks whether anything is left.
    pub(super) async fn down(self) {
        let down = self.local(&["down"]).await;
        assert!(down.good, "{down:?}");
        assert_eq!(processes(self.stack.folder()), [], "no process is left");
        let ports = Part::all().flat_map(|part| self.stack.ports().all_of(part));
        for (_, port) in ports {
            assert!(TcpListener::bind(("127.0.0.1", port)).is_ok(), "nobody listens on {port}");
        }
        let left: Vec<PathBuf> =
            std::fs::read_dir(self.parent.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "no file is left");
        let again = self.local(&["down"]).await;
        assert!(again.good && again.says.contains("nothing was up"), "{again:?}");
    }
}

impl Drop for System {
    #[expect(clippy::print_stdout, reason = "the logs of a failed test are shown beside its panic")]
    fn drop(&mut self) {
        if !self.stack.folder().path().exists() {
            return;
        }
        if std::thread::panicking() {
            for part in Part::roles() {
                let log = std::fs::read_to_string(self.stack.folder().log(part)).unwrap_or_default();
                println!("== {part}\n{log}");
            }
        }
        let mut down = std::process::Command::new(built("local"));
        let _ended = down.arg("--folder").arg(self.stack.folder().path()).arg("down").status();
    }
}

/// Sends what is asked, and reads until the connection ends.
async fn http(address: std::net::SocketAddr, asked: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(asked.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}
