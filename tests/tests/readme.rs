//! What the README tells a reader to type works.

use signalbox_testkit::{Options, Signalbox, built, tool, workspace};
use std::{env, fs, path::Path, process::Stdio};
use tokio::process::Command;

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
    let folder = |program: &Path| program.parent().unwrap().to_owned();
    let usual = env::var_os("PATH").unwrap_or_default();
    let path =
        [folder(&built("signalbox")), folder(&tool("grpcurl"))].into_iter().chain(env::split_paths(&usual));
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &snippet.replace("127.0.0.1:50051", &address)])
        .current_dir(workspace())
        .env("PATH", env::join_paths(path).unwrap())
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
