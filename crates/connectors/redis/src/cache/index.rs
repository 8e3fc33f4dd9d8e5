//! The search module's indexes: one for each space of vectors, made when it is first needed.

use super::layout;
use redis::{RedisError, Value, aio::MultiplexedConnection};
use std::collections::HashMap;

/// Neighbours of a vector in the graph, and how many are looked at when it is made and when it is searched.
const NEIGHBOURS: u32 = 16;
const EFFORT_TO_ADD: u32 = 100;
const EFFORT_TO_SEARCH: u32 = 100;

/// Makes an index unless there is one, and drops those of other spaces that have become empty.
pub(super) async fn ensure(
    connection: &mut MultiplexedConnection,
    space: &str,
    dimensions: usize,
) -> Result<(), RedisError> {
    let name = layout::index(space);
    let known: Vec<String> = redis::cmd("FT._LIST").query_async(connection).await?;
    if known.contains(&name) {
        return Ok(());
    }
    let mut create = redis::cmd("FT.CREATE");
    create.arg(&name).arg("ON").arg("HASH").arg("PREFIX").arg(1).arg(layout::indexed(space)).arg("SCHEMA");
    for tag in ["tenant", "task", "locale", "print"] {
        create.arg(tag).arg("TAG").arg("CASESENSITIVE");
    }
    create.arg("v").arg("VECTOR").arg("HNSW").arg(12);
    create.arg("TYPE").arg("FLOAT32").arg("DIM").arg(dimensions).arg("DISTANCE_METRIC").arg("COSINE");
    create.arg("M").arg(NEIGHBOURS).arg("EF_CONSTRUCTION").arg(EFFORT_TO_ADD);
    create.arg("EF_RUNTIME").arg(EFFORT_TO_SEARCH);
    match create.query_async::<()>(connection).await {
        Ok(()) => tracing::info!(index = name, dimensions, "Made an index for cached answers"),
        // Another replica was quicker.
        Err(error) if error.to_string().contains("already exists") => {}
        Err(error) => return Err(error),
    }
    for other in known.iter().filter(|other| other.starts_with(layout::INDEXES)) {
        retire(connection, other).await;
    }
    Ok(())
}

/// Drops an index of an embedder whose last vector has expired. One that is needed after all is made again.
async fn retire(connection: &mut MultiplexedConnection, name: &str) {
    let about = redis::cmd("FT.INFO").arg(name).query_async::<HashMap<String, Value>>(connection).await;
    let vectors =
        about.ok().and_then(|about| redis::from_redis_value::<u64>(about.get("num_docs")?.clone()).ok());
    if vectors == Some(0) {
        let dropped = redis::cmd("FT.DROPINDEX").arg(name).query_async::<()>(connection).await;
        tracing::info!(index = name, done = dropped.is_ok(), "Dropped an empty index of cached answers");
    }
}
