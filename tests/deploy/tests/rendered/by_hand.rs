//! The runner itself, with manifests that are written by hand.

use signalbox_deploy::{
    cluster::{Cluster, Image, privately},
    documents,
};
use signalbox_testkit::{Client, ask};
use std::path::PathBuf;

const MANIFESTS: &str = include_str!("by_hand.yaml");
const ADMIN_KEY: &str = "the-key-that-all-roles-of-this-fleet-share";

#[test]
fn manifests_written_by_hand_become_processes_that_find_each_other() {
    privately("rendered::by_hand::manifests_written_by_hand_become_processes_that_find_each_other", found);
}

async fn found(folder: PathBuf) {
    let mut cluster = Cluster::start(folder, Image::signalbox()).await;
    cluster.secret("keys", &[("admin", ADMIN_KEY)]);
    cluster.install(&documents(MANIFESTS)).await;
    cluster.all_ready().await;
    assert_eq!(cluster.look_up("adapter").len(), 2, "a headless service is all of its pods");
    let mut client = Client::connect("http://router:80").await.expect("the service leads to the router");
    let answer = ask::ask(&mut client, ask::Mode::Unary, ask::request("fast", "hello")).await;
    let refused = answer.expect_err("callers are authenticated where the key is in the environment");
    assert_eq!(refused.code(), tonic::Code::Unauthenticated);
    cluster.replace_one_of_each().await;
    let restarts: Vec<_> = cluster.pods().iter().flat_map(|pod| pod.restarts()).collect();
    assert!(restarts.is_empty(), "{restarts:?}");
    cluster.stop().await;
}
