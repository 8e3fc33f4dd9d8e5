//! Whether a process does its work.

use crate::{Kind, Part, Purpose, Stack, engines::postgres};
use signalbox_testkit::get;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether it is ready, or what is missing.
pub(crate) async fn ready(stack: &Stack, part: Part, pid: u32) -> Result<(), String> {
    let at = |purpose| stack.ports().address(part, purpose);
    match part.kind {
        Kind::Postgres if !postgres::has_begun(stack, pid) => Err("it takes no connections yet".to_owned()),
        Kind::Postgres => answers(at(Purpose::Clients), ASK_POSTGRES, b"SN").await,
        // Anything at all is good, be it that it wants a password first.
        Kind::Redis => answers(at(Purpose::Clients), b"PING\r\n", b"+-").await,
        Kind::Vendors => good(at(Purpose::Clients), "/_sim/health").await,
        Kind::ClickHouse => good(at(Purpose::Clients), "/ping").await,
        Kind::Nats => good(at(Purpose::Metrics), "/healthz").await,
        _ => good(at(Purpose::Metrics), "/readyz").await,
    }
}

async fn good(address: SocketAddr, path: &str) -> Result<(), String> {
    match timeout(PATIENCE, get(address, path)).await {
        Ok(Ok((200, _))) => Ok(()),
        Ok(Ok((_, body))) => Err(body.trim().to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

/// Whether PostgreSQL speaks TLS: it says yes (S) or no (N) before it asks for a password.
const ASK_POSTGRES: &[u8] = &[0, 0, 0, 8, 4, 210, 22, 47];

/// Whether an engine answers a question by one of these letters.
async fn answers(address: SocketAddr, question: &[u8], letters: &[u8]) -> Result<(), String> {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(question).await?;
        stream.read_u8().await
    };
    match timeout(PATIENCE, ask).await {
        Ok(Ok(letter)) if letters.contains(&letter) => Ok(()),
        Ok(Ok(_)) => Err("it answers in another language".to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}
