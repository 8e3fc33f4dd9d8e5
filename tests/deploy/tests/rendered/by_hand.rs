//! The runner itself, with manifests that are written by hand.

use signalbox_api::v1::router_service_client::RouterServiceClient;
use signalbox_deploy::{
    cluster::{Cluster, Image, privately},
    documents,
};
use signalbox_testkit::{ask, eventually};
use std::path::PathBuf;

const MANIFESTS: &str = include_str!("by_hand.yaml");
const ADMIN_KEY: &str = "the-key-that-all-roles-of-this-fleet-share";

#[test]
fn manifests_written_by_hand_become_processes_that_find_each_other() {
    privately(found);
}

async fn found(folder: PathBuf) {
    let mut cluster = Cluster::start(folder, Image::signalbox()).await;
    cluster.secret("keys", &[("admin", ADMIN_KEY)]);
    cluster.install(&documents(MANIFESTS)).await;
    cluster.all_ready().await;
    assert_eq!(cluster.look_up("adapter").len(), 2, "a headless service is all of its pods");
    let mut client = RouterServiceClient::connect("http://router:80").await.unwrap();
    let answer = ask::ask(&mut client, ask::Mode::Unary, ask::request("fast", "hello")).await;
    let refused = answer.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Unauthenticated);
    cluster.replace_one_of_each().await;
    let restarts: Vec<_> = cluster.pods().iter().flat_map(|pod| pod.restarts()).collect();
    assert!(restarts.is_empty(), "{restarts:?}");
    cluster.stop().await;
}

/// A shell, which tells what it sees.
fn shell() -> Image {
    let path = "/bin/sh".to_owned();
    let program = std::fs::canonicalize(&path).unwrap();
    Image { program, entrypoint: vec![path.clone()], path, arguments: Vec::new(), ..Image::signalbox() }
}

#[test]
fn a_container_sees_what_it_is_given_and_nothing_else() {
    privately(|folder: PathBuf| async {
        let mut cluster = Cluster::start(folder, shell()).await;
        cluster.secret("keys", &[("admin", ADMIN_KEY)]);
        cluster.install(&documents(include_str!("shell.yaml"))).await;
    });
}

#[test]
fn a_container_that_is_not_alive_is_started_again_and_is_no_part_of_a_service() {
    privately(|folder: PathBuf| async {
        let mut cluster = Cluster::start(folder, shell()).await;
        cluster.install(&documents(include_str!("stuck.yaml"))).await;
        let pod = &cluster.pods()[0];
        eventually("it is started again", || async { pod.restarts().len() == 2 }).await;
        assert!(pod.restarts()[0].starts_with("it is not alive: "), "{:?}", pod.restarts());
        assert!(!pod.is_ready());
        assert!(cluster.look_up("stuck").is_empty());
    });
}
