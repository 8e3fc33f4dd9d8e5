//! Leads connections on, as kube-proxy does for the address of a service.

use std::{
    io,
    net::{SocketAddr, SocketAddrV4},
    sync::atomic::{AtomicUsize, Ordering},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

/// Leads each connection to one of the addresses that are right at its time, in turn, until it is dropped. One that
/// nobody takes is closed.
pub(super) async fn forward(
    listener: TcpListener,
    targets: impl Fn() -> Vec<SocketAddrV4> + Send + Sync,
) -> io::Result<()> {
    let turn = AtomicUsize::new(0);
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (client, _) = listener.accept().await?;
        let targets = targets();
        let first = turn.fetch_add(1, Ordering::Relaxed) % targets.len().max(1);
        let (before, from) = targets.split_at(first.min(targets.len()));
        let in_turn: Vec<SocketAddr> = from.iter().chain(before).copied().map(SocketAddr::V4).collect();
        connections.spawn(lead(client, in_turn));
        while connections.try_join_next().is_some() {}
    }
}

async fn lead(mut client: TcpStream, targets: Vec<SocketAddr>) -> io::Result<()> {
    let mut server = TcpStream::connect(targets.as_slice()).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}
