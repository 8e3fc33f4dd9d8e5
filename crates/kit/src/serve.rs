//! Listening, serving and draining.

mod entrance;
mod handshakes;
mod incoming;
mod join;

pub use entrance::Entrance;
pub(crate) use join::Joining;

use crate::boundary::BoundaryLayer;
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tonic::{service::Routes, transport::Server};

/// Connections waiting to be accepted.
const BACKLOG: i32 = 1024;

/// Binds `count` listeners to one address, so that the kernel spreads connections over them (`SO_REUSEPORT`).
/// With port 0 all get the one free port that the first was given. Fails where another process listens already.
pub fn bind(address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    // Shared ports would let a second process of the same user take half of the first one's connections, unnoticed.
    // A socket that does not share cannot be bound beside one that does.
    drop(bind_one(address, false)?);
    let first = bind_one(address, true)?;
    let address = first.local_addr()?;
    std::iter::once(Ok(first)).chain((1..count).map(|_| bind_one(address, true))).collect()
}

fn bind_one(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shared)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves gRPC to those who may enter, until `drain` is cancelled; then takes no new connection or call, finishes those
/// under way for up to `grace`, and returns. Must be called inside a runtime that does IO.
///
/// # Errors
/// The listener cannot be used, or serving on it failed.
pub async fn serve(
    listener: TcpListener,
    entrance: Entrance,
    routes: Routes,
    drain: CancellationToken,
    grace: Duration,
) -> io::Result<()> {
    let access = entrance.access();
    let incoming = incoming::connections(listener, entrance)?;
    let server = Server::builder()
        .layer(BoundaryLayer)
        .layer(access)
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(4 << 20)
        .add_routes(routes)
        .serve_with_incoming_shutdown(incoming, drain.clone().cancelled_owned());
    tokio::select! {
        served = server => served.map_err(io::Error::other),
        () = async { drain.cancelled().await; tokio::time::sleep(grace).await } => {
            tracing::warn!(grace_seconds = grace.as_secs(), "calls were still under way when the drain time ended");
            Ok(())
        }
    }
}

/// What asks the process to stop: SIGTERM or SIGINT.
#[derive(Debug)]
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Signals from now on. Before that one ends the process without a drain, so it comes before anybody is told
    /// of the process.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The next one's name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::LoneAuthenticator;
    use std::{fs::File, os::fd::OwnedFd, sync::Arc};

    #[tokio::test]
    async fn a_listener_that_cannot_be_used_is_an_error_and_not_an_end() {
        // epoll takes no file.
        let listener = TcpListener::from(OwnedFd::from(File::open("/dev/null").unwrap()));
        listener.set_nonblocking(true).unwrap();
        let everybody = Entrance::Clear(Arc::new(LoneAuthenticator::new(None, false)));
        let served =
            serve(listener, everybody, Routes::default(), CancellationToken::new(), Duration::ZERO).await;
        served.unwrap_err();
    }

    #[test]
    fn listeners_of_one_process_share_a_port_and_a_second_process_is_refused() {
        let first = bind(SocketAddr::from(([127, 0, 0, 1], 0)), 3).unwrap();
        let address = first[0].local_addr().unwrap();
        assert!(first.iter().all(|listener| listener.local_addr().unwrap() == address));
        assert_eq!(bind(address, 1).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(first);
        bind(address, 2).unwrap();
    }
}
