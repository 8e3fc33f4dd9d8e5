use super::*;
use crate::clock::FixedClock;
use std::{
    fs,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use tempfile::TempDir;

const ALIAS: &str = "aliases: {mine: {targets: [openai/gpt-6-luna]}}\n";

struct Rig {
    folder: TempDir,
    handle: Arc<ConfigHandle>,
}

fn start(text: &str) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signalbox.yaml");
    fs::write(&path, text).unwrap();
    let clock = Arc::new(FixedClock(UNIX_EPOCH + Duration::from_secs(1_795_987_000)));
    let handle = ConfigHandle::start(Some(path), Environment::default(), clock).unwrap();
    Rig { folder, handle: Arc::new(handle) }
}

impl Rig {
    fn write(&self, text: &str) {
        fs::write(self.folder.path().join("signalbox.yaml"), text).unwrap();
    }

    fn has_alias(&self, name: &str) -> bool {
        self.handle.catalog().aliases().contains_key(name)
    }
}

#[tokio::test]
async fn a_good_change_takes_effect_and_is_told() {
    let rig = start("{}\n");
    let before = rig.handle.status();
    let changes = rig.handle.subscribe();
    rig.write(ALIAS);
    rig.handle.reload().await.unwrap();
    assert!(rig.has_alias("mine"));
    assert!(changes.has_changed().unwrap());
    let after = rig.handle.status();
    assert_eq!((after.reloads, after.failures, after.last_error.as_deref()), (1, 0, None));
    assert_ne!(after.version, before.version);
}

#[tokio::test]
async fn a_bad_change_changes_nothing_and_is_told() {
    let rig = start(ALIAS);
    let before = rig.handle.catalog();
    for text in [
        "",
        "\n \n",
        "aliases: [",
        "alises: {}",
        "models: {openai/gpt-6-luna: {prices: {input: 100000, output: 1}}}",
    ] {
        rig.write(text);
        rig.handle.reload().await.unwrap_err();
        assert!(Arc::ptr_eq(&before, &rig.handle.catalog()));
    }
    fs::remove_file(rig.folder.path().join("signalbox.yaml")).unwrap();
    rig.handle.reload().await.unwrap_err();
    let status = rig.handle.status();
    assert_eq!((status.reloads, status.failures), (0, 6));
    assert!(status.last_error.as_deref().unwrap().contains("cannot be read"));
    rig.write(ALIAS);
    rig.handle.reload().await.unwrap();
    assert_eq!(rig.handle.status().last_error, None);
}

#[tokio::test]
async fn a_change_that_needs_a_restart_is_a_warning() {
    let rig = start("{}\n");
    rig.write("server: {listen: '127.0.0.1:6000'}\n");
    let loaded = rig.handle.reload().await.unwrap();
    let told: Vec<_> = loaded.warning_lines().collect();
    assert!(
        told.iter().any(|line| line.ends_with("server: has changed, which takes effect at the next start")),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_is_noticed_by_itself_and_a_bad_one_counted_once() {
    let rig = start("{}\n");
    let watcher = tokio::spawn({
        let handle = rig.handle.clone();
        async move { handle.watch().await }
    });
    let mut changes = rig.handle.subscribe();
    rig.write(ALIAS);
    changes.changed().await.unwrap();
    assert!(rig.has_alias("mine"));

    rig.write("aliases: [");
    while rig.handle.status().failures == 0 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(rig.handle.status().failures, 1);
    assert!(rig.has_alias("mine"));
    watcher.abort();
}

#[tokio::test(start_paused = true)]
async fn a_new_key_in_a_key_file_is_noticed_too() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "old\n").unwrap();
    let rig = start(&format!("vendors: {{openai: {{api_key: {{file: '{}'}}}}}}\n", key.display()));
    let exposed = || {
        let vendors = rig.handle.catalog().vendors(&Environment::default());
        vendors
            .iter()
            .find(|vendor| &*vendor.name == "openai")
            .unwrap()
            .key
            .as_ref()
            .unwrap()
            .expose()
            .to_owned()
    };
    assert_eq!(exposed(), "old");
    let watcher = tokio::spawn({
        let handle = rig.handle.clone();
        async move { handle.watch().await }
    });
    let mut changes = rig.handle.subscribe();
    fs::write(&key, "new\n").unwrap();
    changes.changed().await.unwrap();
    assert_eq!(exposed(), "new");
    watcher.abort();
}
