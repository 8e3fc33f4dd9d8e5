//! What the chart renders, started as real processes.

mod by_hand;
mod engines;
mod job;
mod load;
mod release;

use engines::Engines;
use release::Release;
use signalbox_certificates::Authority;
use signalbox_deploy::cluster::privately;
use std::path::PathBuf;

const EXAMPLES: &str = "k8s/charts/signalbox/examples";
const OWN: &str = "tests/deploy/tests/rendered";

#[test]
fn a_single_pod_with_everything_in_it_answers_and_knows_its_keys_after_a_restart() {
    privately(|folder: PathBuf| async {
        let mut release = Release::prepare(folder).await;
        release.install(&[&format!("{EXAMPLES}/small.yaml"), &format!("{OWN}/small.yaml")]).await;
        let key = release.make_key().await;
        release.ask(&key).await;
        release.scrape().await;
        release.cluster.replace_one_of_each().await;
        release.ask(&key).await;
        release.count_accounts().await;
        release.was_quiet();
    });
}

#[test]
fn the_charts_own_grouping_is_replaced_pod_by_pod_without_a_failed_call() {
    privately(|folder: PathBuf| async {
        let mut release = Release::prepare(folder).await;
        let _engines = Engines::start(&mut release.cluster).await;
        release.install(&[&format!("{OWN}/grouped.yaml")]).await;
        let key = release.make_key().await;
        release.ask(&key).await;
        release.scrape().await;
        release.replace_under_load(&key).await;
        release.count_accounts().await;
        release.was_quiet();
    });
}

#[test]
fn roles_apart_are_replaced_and_get_another_authority_without_a_failed_call() {
    privately(|folder: PathBuf| async {
        let mut release = Release::prepare(folder).await;
        let _engines = Engines::start(&mut release.cluster).await;
        let (old, new) = (Authority::new(), Authority::new());
        release.certify(&[&old]);
        release.install(&[&format!("{EXAMPLES}/split.yaml"), &format!("{OWN}/split.yaml")]).await;
        let key = release.make_key().await;
        release.ask(&key).await;
        release.scrape().await;
        release.hand_in_job(&key).await;
        release.change_authority(&old, &new, &key).await;
        release.replace_under_load(&key).await;
        release.job_is_answered(&key).await;
        release.count_accounts().await;
        release.was_quiet();
    });
}
