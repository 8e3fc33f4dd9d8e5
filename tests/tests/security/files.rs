//! What a process leaves on the disk.

use serde_json::json;
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, request},
};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

/// All files and folders below one, with who may do what with them.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, about) = entry.map(|entry| (entry.path(), entry.metadata().unwrap())).unwrap();
        found.push((path.display().to_string(), about.permissions().mode() & 0o777));
        if about.is_dir() {
            found.extend(modes(&path));
        }
    }
    found
}

#[tokio::test]
async fn nobody_else_on_the_machine_reads_what_a_process_keeps() {
    let world = World::start(Topology::AllInOne, json!({})).await;
    ask(&mut world.client(), Mode::Unary, request("openai/gpt-6-luna", "Hello?")).await.unwrap();
    let kept = modes(world.signalbox.router.data_dir());
    for name in ["budgets.db", "budgets.db-wal", "usage.db", "spool"] {
        assert!(kept.iter().any(|(path, _)| path.ends_with(name)), "{name}: {kept:?}");
    }
    let others: Vec<_> = kept.iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
    assert_eq!(others, Vec::<&(String, u32)>::new());
}
