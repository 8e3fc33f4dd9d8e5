//! What every batch store must do, in a file and on a server.

use crate::SqlBatches;
use signalbox_contracts::batch_store::Fresh;
use signalbox_ports::batches::BatchStore;
use std::{any::Any, sync::Arc};

fn fresh(url: String, keep: Box<dyn Any + Send>) -> Fresh {
    let open = move || Arc::new(SqlBatches::open(&url).unwrap()) as Arc<dyn BatchStore>;
    Fresh { store: open(), another: Box::new(open), keep }
}

mod sqlite {
    async fn file() -> super::Fresh {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("batches.db").display());
        super::fresh(url, Box::new(dir))
    }

    signalbox_contracts::batch_store_tests!(file);
}

mod postgres {
    use signalbox_testkit::PostgresServer;

    async fn server() -> super::Fresh {
        let server = PostgresServer::start().await;
        super::fresh(server.url(), Box::new(server))
    }

    signalbox_contracts::batch_store_tests!(server);
}
