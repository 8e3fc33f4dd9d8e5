//! Makes the tables, and brings them to this program's version.

use crate::{client::Options, limits};
use clickhouse::{Client, Row};
use serde::Deserialize;
use signalbox_ports::usage_store::StoreFailure;

/// Each brings the tables one version further, and may be run again and by several at once. Versions only ever add, so
/// that programs of the version before go on during an upgrade.
const MIGRATIONS: [(u32, &str, &str); 2] = [
    (1, "usage", include_str!("../migrations/0001_usage.sql")),
    (2, "lookup_indexes", include_str!("../migrations/0002_lookup_indexes.sql")),
];

const LEDGER: &str = "CREATE TABLE IF NOT EXISTS schema_migrations /*cluster*/ (
    version UInt32, name String, applied_at DateTime('UTC') DEFAULT now()
) ENGINE = /*replicated*/ReplacingMergeTree(applied_at) ORDER BY version";

#[derive(Row, Deserialize)]
struct Table {
    name: String,
    engine_full: String,
}

/// Makes the database and the tables.
pub(crate) async fn migrate(server: &Client, options: &Options) -> Result<(), StoreFailure> {
    to_version(server, options, u32::MAX).await
}

/// As [`migrate`], up to a version.
pub(crate) async fn to_version(server: &Client, options: &Options, last: u32) -> Result<(), StoreFailure> {
    let dialect = Dialect::of(options);
    let database = format!("CREATE DATABASE IF NOT EXISTS {} /*cluster*/", options.database);
    run(server, &dialect.say(&database)).await?;
    let client = server.clone().with_database(&options.database);
    run(&client, &dialect.say(LEDGER)).await?;
    let applied = applied(&client).await?;
    for (version, name, sql) in MIGRATIONS {
        if version > last || applied.contains(&version) {
            continue;
        }
        for statement in statements(&dialect.say(sql)) {
            run(&client, &statement).await?;
        }
        let sql = "INSERT INTO schema_migrations (version, name) SELECT {version:UInt32}, {name:String}";
        let ledger = client.query(sql).param("version", version).param("name", name);
        limits::bounded(limits::INSERT, ledger.execute()).await?;
        tracing::info!(version, name, "the usage store's tables are migrated");
    }
    warn_of_newer(&applied);
    retention(&client, options, &dialect).await
}

async fn applied(client: &Client) -> Result<Vec<u32>, StoreFailure> {
    let query = client.query("SELECT DISTINCT version FROM schema_migrations");
    limits::bounded(limits::LOOKUP, query.fetch_all()).await
}

fn warn_of_newer(applied: &[u32]) {
    let known = MIGRATIONS.last().map_or(0, |(version, ..)| *version);
    if let Some(newer) = applied.iter().copied().filter(|version| *version > known).max() {
        tracing::warn!(newer, known, "the usage store's tables are of a newer version than this program");
    }
}

/// Sets how long accounts are kept, where it is not so already.
async fn retention(client: &Client, options: &Options, dialect: &Dialect) -> Result<(), StoreFailure> {
    let sql = "SELECT name, engine_full FROM system.tables
        WHERE database = currentDatabase() AND name IN ('usage_events', 'provider_attempts')";
    let tables: Vec<Table> = limits::bounded(limits::LOOKUP, client.query(sql).fetch_all()).await?;
    for Table { name, engine_full } in tables {
        let statement = match options.retention_days {
            Some(days) if engine_full.contains(&format!("toIntervalDay({days})")) => continue,
            Some(days) => format!("MODIFY TTL toDateTime(counted_at) + toIntervalDay({days})"),
            None if engine_full.contains("toIntervalDay(") => "REMOVE TTL".to_owned(),
            None => continue,
        };
        run(client, &dialect.say(&format!("ALTER TABLE {name} /*cluster*/ {statement}"))).await?;
    }
    Ok(())
}

async fn run(client: &Client, statement: &str) -> Result<(), StoreFailure> {
    let done = limits::bounded(limits::MIGRATION, client.query_raw(statement).execute()).await;
    done.or_else(|error| if is_already_so(&error) { Ok(()) } else { Err(error) })
}

/// Another process did the same at the same time: the table or column is there (57, 44 in old servers), or its change
/// is being made (517).
fn is_already_so(error: &StoreFailure) -> bool {
    let (StoreFailure::Away(text) | StoreFailure::Refused(text)) = error;
    ["Code: 57.", "Code: 517."].iter().any(|code| text.contains(code))
}

/// The statements of a file.
fn statements(sql: &str) -> Vec<String> {
    let code: Vec<&str> = sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
    let statements = code.join("\n");
    statements.split(';').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// What statements say on one server, and on a cluster.
struct Dialect {
    cluster: String,
    replicated: &'static str,
}

impl Dialect {
    fn of(options: &Options) -> Self {
        match &options.cluster {
            Some(name) => Self { cluster: format!("ON CLUSTER {name}"), replicated: "Replicated" },
            None => Self { cluster: String::new(), replicated: "" },
        }
    }

    fn say(&self, sql: &str) -> String {
        sql.replace("/*cluster*/", &self.cluster).replace("/*replicated*/", self.replicated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_rise_by_one() {
        let versions: Vec<u32> = MIGRATIONS.iter().map(|(version, ..)| *version).collect();
        assert_eq!(versions, [1, 2]);
    }

    #[test]
    fn a_cluster_replicates_every_table() {
        let options = Options { cluster: Some("main".to_owned()), ..Options::new("http://h:1", "d") };
        let dialect = Dialect::of(&options);
        for statement in MIGRATIONS.iter().flat_map(|(.., sql)| statements(&dialect.say(sql))) {
            assert!(statement.contains("ON CLUSTER main"), "{statement}");
            assert!(
                !statement.contains("ENGINE") || statement.contains("ENGINE = Replicated"),
                "{statement}"
            );
        }
    }

    #[test]
    fn one_server_replicates_none() {
        let dialect = Dialect::of(&Options::new("http://h:1", "d"));
        for (.., sql) in MIGRATIONS {
            let sql = dialect.say(sql);
            assert!(!sql.contains("Replicated") && !sql.contains("CLUSTER"));
        }
    }
}
