//! Results as they come.

use super::lab::{HAIKU, Lab, item, read};
use crate::budgets::bank::{LUNA, acme};
use signalbox_api::v1::{StreamBatchResultsRequest, StreamBatchResultsResponse};
use signalbox_testkit::{Fleet, Topology, both_topologies, built};
use signalbox_vendorsim::{Place, Times, Vendor};
use std::io::Write as _;
use tonic::Streaming;

async fn stream(lab: &Lab, resume_token: &str, follow: bool) -> Streaming<StreamBatchResultsResponse> {
    let request = StreamBatchResultsRequest {
        job_id: "followed".into(),
        tenant_id: acme(),
        resume_token: resume_token.to_owned(),
        follow,
    };
    lab.client(Fleet::ADMIN_KEY).stream_batch_results(request).await.unwrap().into_inner()
}

/// Whoever follows has each as it comes, and then the end; whoever was cut off goes on where they were.
async fn results_are_followed_to_the_end_and_gone_on_with(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "hold", Times::First(1));
    lab.submit("followed", vec![item("early", HAIKU), item("late", LUNA)]).await.unwrap();
    lab.handed(Vendor::Openai, 1).await;
    let mut follower = stream(&lab, "", true).await;
    let first = follower.message().await.unwrap().unwrap();
    assert_eq!(first.result.as_ref().unwrap().item_id, "early");
    let now = read(stream(&lab, "", false).await).await;
    assert_eq!(now.iter().map(|(result, _)| &*result.item_id).collect::<Vec<_>>(), ["early"]);
    lab.bank.vendors.release_batches();
    let second = follower.message().await.unwrap().unwrap();
    assert_eq!(second.result.as_ref().unwrap().item_id, "late");
    assert!(follower.message().await.unwrap().is_none(), "the job has ended, and so has the stream");
    let rest = read(stream(&lab, &first.resume_token, true).await).await;
    assert_eq!(rest, [(second.result.unwrap(), second.resume_token.clone())]);
    assert_eq!(read(stream(&lab, &second.resume_token, true).await).await, []);
    lab.books_are_closed("followed", 2).await;
}

/// What an operator types.
async fn command(lab: &Lab, words: &[&str]) -> String {
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.args(words).env_clear().env("SIGNALBOX_API_KEY", Fleet::ADMIN_KEY);
    command.env("SIGNALBOX_SERVER", format!("http://{}", lab.lane(0).address()));
    let output = command.output().await.unwrap();
    let says = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{words:?}: {says}");
    says
}

async fn operators_hand_in_and_fetch_jobs_by_commands(topology: Topology) {
    let lab = Lab::open(topology).await;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for text in ["Rome", "Lviv"] {
        let content = serde_json::json!([{"text": text}]);
        let messages = serde_json::json!([{"role": "ROLE_USER", "content": content}]);
        let generate = serde_json::json!({"model": LUNA, "maxOutputTokens": 50, "messages": messages});
        writeln!(file, "{}", serde_json::json!({"itemId": text, "generate": generate})).unwrap();
    }
    let (path, acme) = (file.path().to_string_lossy().into_owned(), acme());
    let says = command(
        &lab,
        &["batch", "submit", &path, "--tenant", &acme, "--id", "typed", "--reference", "typed"],
    )
    .await;
    assert!(says.contains("job        typed") && says.contains("items      2: "), "{says}");
    let says = command(&lab, &["batch", "results", "typed", "--tenant", &acme, "--follow"]).await;
    assert!(says.contains("Rome  openai/gpt-6-luna  €") && says.contains("--after "), "{says}");
    let says = command(&lab, &["batch", "get", "typed", "--tenant", &acme]).await;
    assert!(says.contains("state      ended") && says.contains("2: 2 succeeded"), "{says}");
    let says = command(&lab, &["batch", "list", "--tenant", &acme, "--state", "ended"]).await;
    assert!(says.contains("typed"), "{says}");
    let says = command(&lab, &["batch", "cancel", "typed", "--tenant", &acme, "--json"]).await;
    assert!(says.contains("STATE_ENDED"), "{says}");
    lab.books_are_closed("typed", 2).await;
}

both_topologies!(
    results_are_followed_to_the_end_and_gone_on_with,
    operators_hand_in_and_fetch_jobs_by_commands,
);
