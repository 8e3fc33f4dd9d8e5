//! Every example request is accepted.

use crate::client::{headers, send, start};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn requests(vendor: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/vendors").join(vendor);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("request_"));
    files.sort();
    files
}

fn path_of(vendor: &str, file: &Path, body: &Value) -> String {
    let name = file.file_name().unwrap().to_str().unwrap();
    let noted = body.get("_url").and_then(Value::as_str).and_then(|url| url.strip_prefix("POST "));
    let usual = match vendor {
        "anthropic" => "/v1/messages",
        "gemini" => "/v1beta/models/gemini-3.1-pro-preview:generateContent",
        "ollama" => "/api/chat",
        _ if name.contains("responses_api") => "/v1/responses",
        _ => "/v1/chat/completions",
    };
    format!("/{vendor}{}", noted.unwrap_or(usual))
}

#[tokio::test]
async fn every_example_request_is_accepted() {
    let simulator = start().await;
    let mut refused = Vec::new();
    for vendor in ["openai", "anthropic", "gemini", "xai", "ollama"] {
        for file in requests(vendor) {
            // A deferred answer is not simulated.
            if file.ends_with("request_deferred.json") {
                continue;
            }
            let mut body: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            let path = path_of(vendor, &file, &body);
            let noted = body.get("_headers").cloned().unwrap_or_default();
            body.as_object_mut().unwrap().retain(|name, _| !name.starts_with('_'));
            let mut headers = headers(vendor);
            if noted["anthropic-version"] == "2023-06-01" {
                headers = vec![("x-api-key", "key"), ("anthropic-version", "2023-06-01")];
            }
            let seen = send(&simulator, "POST", &path, &headers, &body).await.unwrap();
            if seen.status != 200 {
                refused.push(format!("{path} {}: {}", file.display(), seen.body));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
