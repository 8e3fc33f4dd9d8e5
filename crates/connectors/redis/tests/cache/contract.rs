//! The contract of every cache store, for each way of searching.

mod by_module {
    use crate::support;
    use signalbox_contracts::cache_store::Fresh;
    use signalbox_kit::Clock;
    use signalbox_redis::VectorSearch;
    use std::sync::Arc;

    async fn fresh(_: Arc<dyn Clock>) -> Fresh {
        support::fresh(VectorSearch::Module).await
    }

    signalbox_contracts::cache_store_tests!(fresh);
}

mod by_sets {
    use crate::support;
    use signalbox_contracts::cache_store::Fresh;
    use signalbox_kit::Clock;
    use signalbox_redis::VectorSearch;
    use std::sync::Arc;

    async fn fresh(_: Arc<dyn Clock>) -> Fresh {
        support::fresh(VectorSearch::Sets).await
    }

    signalbox_contracts::cache_store_tests!(fresh);
}

mod by_brute_force {
    use crate::support;
    use signalbox_contracts::cache_store::Fresh;
    use signalbox_kit::Clock;
    use signalbox_redis::VectorSearch;
    use std::sync::Arc;

    async fn fresh(_: Arc<dyn Clock>) -> Fresh {
        support::fresh(VectorSearch::BruteForce).await
    }

    signalbox_contracts::cache_store_tests!(fresh);
}
