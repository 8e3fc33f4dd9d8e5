//! What every ledger and every tenant store must do, done by SQLite and by PostgreSQL.

use crate::SqlLedger;
use signalbox_kit::{Clock, SystemClock};
use std::{any::Any, sync::Arc};

/// The same database as often as it is opened.
type Opener = Arc<dyn Fn() -> Arc<SqlLedger> + Send + Sync>;

fn opener(url: String, clock: Arc<dyn Clock>) -> Opener {
    Arc::new(move || Arc::new(SqlLedger::with_clock(&url, clock.clone()).unwrap()))
}

fn ledger(opener: &Opener, keep: Box<dyn Any + Send>) -> signalbox_contracts::ledger::Fresh {
    let another = opener.clone();
    signalbox_contracts::ledger::Fresh { ledger: opener(), another: Box::new(move || another()), keep }
}

async fn store(opener: &Opener, keep: Box<dyn Any + Send>) -> signalbox_contracts::tenant_store::Fresh {
    let (store, another): (Arc<SqlLedger>, Opener) = (opener(), opener.clone());
    signalbox_ports::ledger::Ledger::migrate(&*store).await.unwrap();
    signalbox_contracts::tenant_store::Fresh { store, another: Box::new(move || another()), keep }
}

mod sqlite {
    use super::*;

    fn file(clock: Arc<dyn Clock>) -> (Opener, Box<dyn Any + Send>) {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("ledger.db").display());
        (opener(url, clock), Box::new(dir))
    }

    async fn fresh_ledger(clock: Arc<dyn Clock>) -> signalbox_contracts::ledger::Fresh {
        let (opener, keep) = file(clock);
        ledger(&opener, keep)
    }

    async fn fresh_store() -> signalbox_contracts::tenant_store::Fresh {
        let (opener, keep) = file(Arc::new(SystemClock));
        store(&opener, keep).await
    }

    signalbox_contracts::ledger_tests!(fresh_ledger);
    signalbox_contracts::tenant_store_tests!(fresh_store);
}

mod postgres {
    use super::*;
    use signalbox_testkit::PostgresServer;

    async fn server(clock: Arc<dyn Clock>) -> (Opener, Box<dyn Any + Send>) {
        let server = PostgresServer::start().await;
        (opener(server.url(), clock), Box::new(server))
    }

    async fn fresh_ledger(clock: Arc<dyn Clock>) -> signalbox_contracts::ledger::Fresh {
        let (opener, keep) = server(clock).await;
        ledger(&opener, keep)
    }

    async fn fresh_store() -> signalbox_contracts::tenant_store::Fresh {
        let (opener, keep) = server(Arc::new(SystemClock)).await;
        store(&opener, keep).await
    }

    signalbox_contracts::ledger_tests!(fresh_ledger);
    signalbox_contracts::tenant_store_tests!(fresh_store);
}
