//! The listener for clients over TLS, as they meet it: `grpcurl` and the commands of `signalbox`. And the one for probes.

use super::strangers::grpcurl;
use serde_json::json;
use signalbox_certificates::{Authority, Terms};
use signalbox_testkit::{Options, Signalbox, built, eventually};
use std::path::PathBuf;
use tempfile::TempDir;

const HEALTH: &str = "grpc.health.v1.Health/Check";
const MODELS: &str = "signalbox.v1.RouterService/ListModels";
const HOSTS: [&str; 2] = ["localhost", "127.0.0.1"];

/// A process that shows a certificate to clients.
struct Shop {
    process: Signalbox,
    authority: Authority,
    folder: TempDir,
}

impl Shop {
    async fn open() -> Self {
        let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("ca.crt"), authority.ca_pem()).unwrap();
        authority.issue_for_hosts(&HOSTS).write(folder.path());
        let file = |name: &str| folder.path().join(name);
        let tls = json!({"certificate_file": file("tls.crt"), "key_file": file("tls.key")});
        std::fs::write(file("signalbox.yaml"), json!({"server": {"tls": tls}}).to_string()).unwrap();
        let (config, health_listen) = (Some(file("signalbox.yaml")), Some(Options::FREE));
        let process = Signalbox::serve(Options { config, health_listen, ..Options::default() }).await;
        Self { process, authority, folder }
    }

    fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Authorities that have nothing to do with it.
    fn others(&self) -> PathBuf {
        let file = self.folder.path().join("others.crt");
        std::fs::write(&file, Authority::new().ca_pem()).unwrap();
        file
    }

    /// Asks it as `grpcurl` does, with these flags.
    async fn curl(&self, flags: &[&str], method: &str) -> (bool, String) {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        grpcurl(&flags, &self.process.address().to_string(), method).await
    }
}

/// What `signalbox models` says, asked at a server, with a file of authorities where one is named.
async fn models(server: &str, ca_file: Option<&PathBuf>) -> Result<String, String> {
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.args(["models", "--server", server]).env_clear();
    command.envs(ca_file.map(|file| ("SIGNALBOX_CA_FILE", file)));
    let output = command.kill_on_drop(true).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

#[tokio::test]
async fn clients_speak_with_it_over_tls() {
    let shop = Shop::open().await;
    let told = "serving gRPC over TLS, only from this machine";
    eventually("the log says it", async || shop.process.log().contains(told)).await;
    let ca_file = shop.ca_file();
    let (answered, said) = shop.curl(&["-cacert", ca_file.to_str().unwrap()], MODELS).await;
    assert!(answered && said.contains("gpt-6-luna"), "{said}");
    let port = shop.process.address().port();
    for server in [format!("https://127.0.0.1:{port}"), format!("localhost:{port}")] {
        let said = models(&server, Some(&ca_file)).await.unwrap();
        assert!(said.contains("gpt-6-luna"), "{said}");
    }
}

#[tokio::test]
async fn who_does_not_trust_it_or_does_not_speak_tls_is_told_so() {
    let shop = Shop::open().await;
    let (ca_file, others) = (shop.ca_file(), shop.others());
    let address = shop.process.address();
    let server = format!("https://{address}");
    let (answered, said) = shop.curl(&["-cacert", others.to_str().unwrap()], MODELS).await;
    assert!(!answered && said.contains("certificate signed by unknown authority"), "{said}");
    let (answered, said) = shop.curl(&["-plaintext", "-connect-timeout", "1"], MODELS).await;
    assert!(!answered, "{said}");

    let cases = [
        (models(&server, Some(&others)).await, "its certificate is not signed by an authority of --ca-file"),
        (models(&server, None).await, "name it by --ca-file"),
        (models(&format!("http://{address}"), None).await, "where it speaks TLS, write https://"),
        (models(&format!("http://{address}"), Some(&ca_file)).await, "in the clear: write https://"),
    ];
    for (said, wanted) in cases {
        let said = said.unwrap_err();
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let clear = Signalbox::serve(Options::default()).await;
    let said = models(&format!("https://{}", clear.address()), Some(&ca_file)).await.unwrap_err();
    assert!(said.contains("it does not speak TLS at this port: is it http://?"), "{said}");
}

#[tokio::test]
async fn another_certificate_is_shown_soon_after_its_file_has_changed() {
    let shop = Shop::open().await;
    let ca_file = shop.ca_file();
    let fresh = shop.authority.issue_on(&Terms { hosts: &["fresh.example"], ..Terms::default() });
    fresh.write(shop.folder.path());
    let flags = ["-cacert", ca_file.to_str().unwrap(), "-authority", "fresh.example"];
    eventually("it shows the fresh one", || async { shop.curl(&flags, HEALTH).await.0 }).await;
    assert!(shop.process.log().contains("certificate reloaded"));
}

#[tokio::test]
async fn probes_ask_for_health_in_the_clear_and_get_nothing_else() {
    let shop = Shop::open().await;
    let probe = shop.process.health_address().unwrap().to_string();
    let ask = async |method: &str| grpcurl(&["-plaintext".to_owned()], &probe, method).await;
    let (answered, said) = ask(HEALTH).await;
    assert!(answered && said.contains("SERVING"), "{said}");
    for method in [MODELS, "signalbox.v1.AdminService/GetConfigStatus", "signalbox.v1.RouterService/Generate"]
    {
        let (answered, said) = ask(method).await;
        assert!(!answered && said.contains("Unimplemented"), "{method}: {said}");
    }
    let mut list = tokio::process::Command::new(signalbox_testkit::tool("grpcurl"));
    let listed = list.args(["-plaintext", &probe, "list"]).output().await.unwrap();
    assert!(!listed.status.success(), "not even what there is: {listed:?}");
}
