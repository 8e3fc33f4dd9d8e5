//! What a process serves where, and what it does not start with.

use serde_json::{Value, json};
use signalbox_api::v1::router_service_client::RouterServiceClient;
use signalbox_certificates::Authority;
use signalbox_testkit::{
    Certificates, Deployment, Fleet, KEYS, Options, Signalbox, ask::request, at_simulator, built, merge,
};
use signalbox_vendorsim::Simulator;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use tempfile::TempDir;
use tonic::Code;

const EVERYWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

fn written(folder: &TempDir, config: &Value) -> std::path::PathBuf {
    let file = folder.path().join("signalbox.yaml");
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

/// What `signalbox serve` says before it ends.
async fn complaint(config: &Value, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.arg("serve").arg("--config").arg(written(&folder, config)).args(flags);
    command.args(["--metrics-listen", "127.0.0.1:0"]);
    command.env_clear().env("SIGNALBOX_DATA_DIR", folder.path()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn roles_and_probes_may_come_from_other_machines_where_clients_without_keys_may_not() {
    let (mut certificates, folder) = (Certificates::new(), tempfile::tempdir().unwrap());
    let options = Options {
        config: Some(written(&folder, &certificates.issue("adapter"))),
        roles: "adapter",
        internal_listen: Some(EVERYWHERE),
        health_listen: Some(EVERYWHERE),
        ..Options::default()
    };
    let process = Signalbox::serve(options).await;
    for address in [process.internal_address(), process.health_address()] {
        assert!(address.unwrap().ip().is_unspecified(), "{address:?}");
    }
}

#[tokio::test]
async fn encryption_does_not_stand_in_for_keys() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    authority.issue_for_hosts(&["signalbox.example"]).write(folder.path());
    let file = |name: &str| folder.path().join(name);
    let tls = json!({"certificate_file": file("tls.crt"), "key_file": file("tls.key")});
    let said = complaint(&json!({"server": {"tls": tls}}), &["--listen", "0.0.0.0:0"]).await;
    assert!(said.contains("callers are not authenticated"), "{said}");
}

#[tokio::test]
async fn a_process_does_not_start_with_what_others_would_not_believe() {
    let mut certificates = Certificates::new();
    let said = complaint(&certificates.issue("router"), &["--role", "router,adapter"]).await;
    assert!(said.contains("mtls.certificate_file: "), "{said}");
    assert!(said.contains("speaks for router, and not for adapter, which this process serves"), "{said}");

    let mut torn = certificates.issue("adapter");
    let other = certificates.issue("adapter");
    merge(&mut torn, json!({"mtls": {"key_file": other["mtls"]["key_file"]}}));
    let said = complaint(&torn, &["--role", "adapter"]).await;
    assert!(said.contains("mtls.key_file") && said.contains("is not the key of the certificate"), "{said}");

    let said = complaint(&json!({}), &["--internal-listen", "127.0.0.1:0"]).await;
    assert!(said.contains("--internal-listen") && said.contains("add `mtls`"), "{said}");
}

#[tokio::test]
async fn without_certificates_roles_speak_in_the_clear_and_know_each_other_by_their_key() {
    let vendors = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
    let env = [&KEYS[..], &[("SIGNALBOX_ADMIN_KEY", Fleet::ADMIN_KEY)]].concat();
    let deployment = Deployment::start_in_clear(&at_simulator(&vendors), &env).await;
    let ask = async |key| {
        let mut client = RouterServiceClient::new(deployment.router.keyed(key));
        client.generate(request("openai/gpt-6-luna", "Hello?")).await
    };
    assert_eq!(ask("").await.unwrap_err().code(), Code::Unauthenticated);
    ask(Fleet::ADMIN_KEY).await.unwrap();
    assert!(deployment.processes().all(|process| process.internal_address().is_none()));
}
