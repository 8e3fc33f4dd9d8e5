//! Two processes of `signalbox serve` with the role `ingest`.

use serde_json::json;
use signalbox_testkit::{ClickHouseEngine, Options, Signalbox};
use std::path::Path;

/// Where they keep accounts.
pub(crate) const DATABASE: &str = "signalbox";
/// Where their configuration says the password is.
const PASSWORD: &str = "CLICKHOUSE_PASSWORD";

pub(crate) async fn start(
    dir: &Path,
    nats: &[String],
    engine: &ClickHouseEngine,
) -> Result<Vec<Signalbox>, String> {
    let clickhouse = json!({
        "url": engine.url(),
        "database": DATABASE,
        "user": ClickHouseEngine::USER,
        "password": {"env": PASSWORD},
    });
    let config = json!({"nats": {"servers": nats}, "usage": {"store": {"clickhouse": clickhouse}}});
    let file = dir.join("ingest.yaml");
    // JSON is YAML.
    std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    std::fs::write(&file, config.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    let options = || Options {
        config: Some(file.clone()),
        roles: "ingest",
        env: vec![(PASSWORD.to_owned(), ClickHouseEngine::PASSWORD.to_owned())],
        ..Options::default()
    };
    Ok(vec![Signalbox::serve(options()).await, Signalbox::serve(options()).await])
}
