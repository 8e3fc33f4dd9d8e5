//! TLS handshakes of a listener, many at once, so that none waits for another.

use crate::tls::{Accepted, Acceptor};
use futures_util::{Stream, StreamExt, stream};
use std::{collections::VecDeque, io};
use tokio::{
    net::TcpStream,
    task::{AbortHandle, JoinSet},
};

/// Most handshakes under way at a listener. Whoever opens more and says nothing crowds out the oldest, which is most
/// likely another of the same kind: a good one takes milliseconds.
const MOST: usize = 512;

/// The connections of a listener that begin well, each with the `acceptor` of its time. Must be polled inside a runtime.
pub(super) fn handshakes(
    incoming: impl Stream<Item = io::Result<TcpStream>> + Unpin,
    acceptor: impl Fn() -> Acceptor,
) -> impl Stream<Item = io::Result<Accepted>> {
    let state = (incoming, acceptor, UnderWay::default());
    stream::unfold(state, |(mut incoming, acceptor, mut under_way)| async {
        let next = loop {
            tokio::select! {
                Some(ended) = under_way.tasks.join_next() => {
                    if let Ok(Some(accepted)) = ended {
                        break Ok(accepted);
                    }
                }
                connection = incoming.next() => match connection? {
                    Ok(connection) => under_way.begin(acceptor(), connection),
                    Err(error) => break Err(error),
                },
            }
        };
        Some((next, (incoming, acceptor, under_way)))
    })
}

/// What is dropped gives up its handshakes.
#[derive(Default)]
struct UnderWay {
    tasks: JoinSet<Option<Accepted>>,
    /// The oldest first; of those that have ended, some.
    in_order: VecDeque<AbortHandle>,
}

impl UnderWay {
    fn begin(&mut self, acceptor: Acceptor, connection: TcpStream) {
        if self.in_order.len() >= MOST {
            self.in_order.retain(|handshake| !handshake.is_finished());
        }
        if self.in_order.len() >= MOST {
            self.in_order.pop_front().inspect(AbortHandle::abort);
        }
        self.in_order.push_back(self.tasks.spawn(acceptor.accept(connection)));
    }
}
