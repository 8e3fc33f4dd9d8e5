//! A batch job, as somebody who has an application's key types it.

use super::system::System;
use serde_json::json;
use signalbox_local::Kind;
use signalbox_testkit::eventually;

const ITEMS: [&str; 3] = ["first", "second", "third"];

/// A job that was handed in.
#[derive(Debug)]
pub(super) struct Job {
    tenant: &'static str,
    key: String,
}

impl Job {
    /// Hands one in as a tenant, which is made.
    pub(super) async fn hand_in(system: &System, tenant: &'static str) -> Self {
        let job = Self { tenant, key: system.operator().key(tenant).await.unwrap() };
        let file = system.stack.folder().path().with_file_name(format!("{tenant}.jsonl"));
        std::fs::write(&file, ITEMS.map(item).concat()).unwrap();
        let taken = job.batch(system, 0, &["submit", &file.to_string_lossy(), "--id", "nightly"]).await;
        std::fs::remove_file(&file).unwrap();
        assert!(taken.contains("nightly"), "{taken}");
        job
    }

    /// Each item has an answer and a row, once, whichever process is asked.
    pub(super) async fn is_answered(&self, system: &System) {
        let results = self.batch(system, 1, &["results", "nightly", "--follow", "--json"]).await;
        assert_eq!(results.lines().count(), ITEMS.len(), "{results}");
        for item in ITEMS {
            assert_eq!(results.matches(&format!("\"{item}\"")).count(), 1, "{item}: {results}");
        }
        assert_eq!(results.matches("Simulated answer").count(), ITEMS.len(), "{results}");
        let query =
            format!("SELECT outcome || '|' || lane FROM usage_events WHERE tenant_id = '{}'", self.tenant);
        eventually("each item has its row", || async {
            let rows = system.operator().sql(&query).await.unwrap();
            assert!(rows.len() <= ITEMS.len(), "{rows:?}");
            rows == ITEMS.map(|_| "OUTCOME_SUCCEEDED|LANE_BATCH")
        })
        .await;
    }

    async fn batch(&self, system: &System, process: usize, arguments: &[&str]) -> String {
        let server = &system.stack.urls(Kind::Batch)[process];
        let said = system.signalbox(&self.key, &[&["batch", "--server", server], arguments].concat()).await;
        assert!(said.good, "{arguments:?}: {said:?}");
        said.says
    }
}

/// A line of the file.
fn item(id: &str) -> String {
    let text = format!("Sum up the article {id}.");
    let messages = json!([{"role": "ROLE_USER", "content": [{"text": text}]}]);
    format!("{}\n", json!({"itemId": id, "generate": {"model": "openai/gpt-6-luna", "messages": messages}}))
}
