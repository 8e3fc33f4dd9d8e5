//! The connections of a listener.

use super::{Entrance, handshakes::handshakes, join::Joining};
use crate::{access::Connection, tls::Accepted};
use futures_util::{Stream, StreamExt, TryStreamExt};
use std::{io, net::TcpListener};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tonic::transport::server::TcpIncoming;

/// A connection in the clear, or over TLS.
type Wire = Joining<Either<TcpStream, Box<TlsStream<TcpStream>>>, Connection>;

/// Those that come in by `entrance`. Must be called inside a runtime.
pub(super) fn connections(
    listener: TcpListener,
    entrance: Entrance,
) -> io::Result<impl Stream<Item = io::Result<Wire>>> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // Without nodelay a small answer waits 40 ms for the other side's delayed acknowledgement.
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Ok(match entrance {
        Entrance::Clear(_) => incoming.map_ok(in_the_clear).left_stream(),
        Entrance::Tls(tls, _) => {
            handshakes(incoming, move || tls.acceptor()).map_ok(over_tls).left_stream().right_stream()
        }
        Entrance::Mtls(mtls, _) => {
            handshakes(incoming, move || mtls.acceptor()).map_ok(over_tls).right_stream().right_stream()
        }
    })
}

fn in_the_clear(stream: TcpStream) -> Wire {
    let peer = stream.peer_addr().ok();
    Joining::new(Either::Left(stream), Connection { peer, roles: None })
}

fn over_tls(Accepted { stream, roles }: Accepted) -> Wire {
    let peer = stream.get_ref().0.peer_addr().ok();
    Joining::new(Either::Right(stream), Connection { peer, roles })
}
