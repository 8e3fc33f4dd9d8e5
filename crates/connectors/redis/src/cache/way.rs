//! How this server can search by vectors.

use redis::{FromRedisValue, RedisError, aio::MultiplexedConnection};

/// Ways of searching, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorSearch {
    /// By the search module: one index for each embedder, filtered by partition.
    Module,
    /// By vector sets, which Redis has of itself since version 8: one for each partition.
    Sets,
    /// By none of the server's: the vectors of a partition are fetched and compared. A partition has a thousand at most.
    BruteForce,
}

impl VectorSearch {
    /// As scripts call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Module => "search",
            Self::Sets => "sets",
            Self::BruteForce => "brute",
        }
    }

    /// What the server has.
    pub(super) async fn found(connection: &mut MultiplexedConnection) -> Result<Self, RedisError> {
        if has::<Vec<String>>(connection, "FT._LIST", &[]).await?.is_some() {
            return Ok(Self::Module);
        }
        let members = has::<u64>(connection, "VCARD", &["sb:v1:none"]).await?;
        Ok(if members.is_some() { Self::Sets } else { Self::BruteForce })
    }
}

/// What a command answers; `None` where there is no such command, or it is not ours to use.
async fn has<T: FromRedisValue>(
    connection: &mut MultiplexedConnection,
    command: &str,
    arguments: &[&str],
) -> Result<Option<T>, RedisError> {
    match redis::cmd(command).arg(arguments).query_async(connection).await {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_refused(&error.to_string()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that there is no such command, in a script or by itself, or that it is not ours to use.
pub(super) fn is_refused(error: &str) -> bool {
    let error = error.to_lowercase();
    (error.contains("unknown") && error.contains("command"))
        || error.contains("noperm")
        || error.contains("no permissions")
}
