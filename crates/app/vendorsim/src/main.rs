//! Serves the simulated vendors until interrupted. Prints one JSON line with its address when ready.

use clap::Parser;
use signalbox_vendorsim::Simulator;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The LLM vendors' HTTP APIs, simulated.
#[derive(Debug, Parser)]
#[command(name = "signalbox-vendorsim", version)]
struct Arguments {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Milliseconds to wait before every answer.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Milliseconds that a batch takes.
    #[arg(long, default_value_t = 1000)]
    batch_ms: u64,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let delay = Duration::from_millis(arguments.delay_ms);
    let batch_time = Duration::from_millis(arguments.batch_ms);
    let simulator = Simulator::builder().delay(delay).batch_time(batch_time).bind(arguments.listen).await?;
    writeln!(io::stdout(), "{}", serde_json::json!({"address": simulator.addr().to_string()}))?;
    interrupted().await?;
    simulator.shutdown().await;
    Ok(())
}

#[cfg(unix)]
async fn interrupted() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn interrupted() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
