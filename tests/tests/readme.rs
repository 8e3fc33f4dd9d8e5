//! What the README tells a reader to type works.

use serde_json::Value;
use signalbox_api::v1::router_service_client::RouterServiceClient;
use signalbox_testkit::{
    Options, Signalbox,
    ask::{Mode, ask, request},
    built, eventually, tool, workspace,
};
use std::{env, ffi::OsString, fs, path::Path, process::Stdio};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

/// Blocks that are commands to try.
fn snippets(text: &str) -> Vec<&str> {
    let blocks =
        text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block);
    blocks.filter(|block| block.contains("grpcurl") || block.contains("signalbox ")).collect()
}

#[tokio::test]
async fn every_readme_snippet_works() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let snippets = snippets(&readme);
    for command in
        ["Generate", "StreamGenerate", "signalbox chat", "signalbox models", "signalbox check-config"]
    {
        assert!(snippets.iter().any(|snippet| snippet.contains(command)), "no snippet shows `{command}`");
    }
    let signalbox = Signalbox::serve(Options::default()).await;
    let mut failed = Vec::new();
    for snippet in snippets {
        if let Err(problem) = run(snippet, &signalbox).await {
            failed.push(problem);
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// Runs a snippet as a reader would, with the server's port in place of the usual one.
async fn run(snippet: &str, signalbox: &Signalbox) -> Result<(), String> {
    let address = signalbox.address().to_string();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &snippet.replace("127.0.0.1:50051", &address)])
        .current_dir(workspace())
        .env("PATH", path())
        .env("SIGNALBOX_SERVER", format!("http://{address}"))
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    if output.status.success() && !output.stdout.is_empty() {
        return Ok(());
    }
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{snippet}{}\n{said}{complained}", output.status))
}

/// Where a reader's shell finds programs.
fn path() -> OsString {
    let folder = |program: &Path| program.parent().unwrap().to_owned();
    let usual = env::var_os("PATH").unwrap_or_default();
    let ours = [folder(&built("signalbox")), folder(&tool("grpcurl"))];
    env::join_paths(ours.into_iter().chain(env::split_paths(&usual))).unwrap()
}

#[tokio::test]
async fn the_readmes_roles_in_processes_of_their_own_serve_together() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let block = |role: &str| {
        let command = format!("signalbox serve --role {role} ");
        let mut blocks = readme.split("```").filter(|block| block.contains(&command));
        blocks.next().unwrap_or_else(|| panic!("no block shows `{command}`")).to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    // As printed, but for ports and files of this test's own.
    let adapter = block("adapter").replace(":50052", ":0").replace(":9465", ":0");
    let (_adapter, banner) = serve(&adapter, folder.path()).await;
    let router = block("router").replace("127.0.0.1:50052", banner["listening"].as_str().unwrap());
    let router = router.replace("/tmp", folder.path().to_str().unwrap());
    let router = format!("{} --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0", router.trim_end());
    let (_router, banner) = serve(&router, folder.path()).await;
    let address = format!("http://{}", banner["listening"].as_str().unwrap());
    let client = RouterServiceClient::connect(address).await.unwrap();
    eventually("the router serves", || async {
        ask(&mut client.clone(), Mode::Unary, request("fast", "Hello?")).await.is_ok()
    })
    .await;
}

/// Runs commands of which the last one serves, and waits for what it says once it does.
async fn serve(commands: &str, folder: &Path) -> (Child, Value) {
    let (before, last) = commands.trim().rsplit_once('\n').unwrap_or_else(|| ("", commands.trim()));
    let mut child = Command::new("bash")
        .args(["-euc", &format!("{before}\nexec {last}")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let banner = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("it ended: {commands}"));
    (child, serde_json::from_str(&banner).unwrap())
}
