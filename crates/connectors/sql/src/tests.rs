use crate::{Database, Failure, Patience};
use signalbox_ports::tenants::TenantStoreError;
use sqlx::Executor;

async fn run(database: &Database, sql: &str) -> Result<(), Failure> {
    let done = database.run(sql, |session, sql| {
        Box::pin(
            async move { session.connection.execute(sqlx::AssertSqlSafe(sql.to_owned())).await.map(|_| ()) },
        )
    });
    done.await
}

#[tokio::test]
async fn after_sqlite_has_rolled_back_by_itself_as_on_a_full_disk_the_next_transaction_is_begun() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("small.db").display());
    let database = Database::open(&url, Patience::SHORT).unwrap();
    run(&database, "CREATE TABLE notes (note TEXT NOT NULL)").await.unwrap();
    let full = "CREATE TRIGGER full BEFORE INSERT ON notes WHEN NEW.note = 'long' \
                BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END";
    run(&database, full).await.unwrap();
    for _ in 0..3 {
        let failure = run(&database, "INSERT INTO notes VALUES ('long')").await.unwrap_err();
        assert!(format!("{failure:?}").contains("disk is full"), "{failure:?}");
        run(&database, "INSERT INTO notes VALUES ('short')").await.unwrap();
    }
}

#[tokio::test]
async fn a_file_that_may_not_grow_takes_what_comes_once_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("small.db").display());
    let database = Database::open(&url, Patience::SHORT).unwrap();
    run(&database, "CREATE TABLE notes (note BLOB NOT NULL)").await.unwrap();
    run(&database, "PRAGMA max_page_count = 8").await.unwrap();
    for _ in 0..2 {
        let failure = run(&database, "INSERT INTO notes VALUES (zeroblob(1000000))").await.unwrap_err();
        assert!(failure.is_full() && !failure.is_collision(), "{failure:?}");
        assert!(matches!(TenantStoreError::from(failure), TenantStoreError::Full(_)));
        run(&database, "PRAGMA max_page_count = 8").await.unwrap();
    }
    run(&database, "PRAGMA max_page_count = 10000").await.unwrap();
    run(&database, "INSERT INTO notes VALUES (zeroblob(1000000))").await.unwrap();
}
