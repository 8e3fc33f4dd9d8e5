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
    let state = (incoming, acceptor, UnderWay::up_to(MOST));
    stream::unfold(state, |(mut incoming, acceptor, mut under_way)| async {
        let next = loop {
            tokio::select! {
                Some(ended) = under_way.tasks.join_next() => {
                    if let Ok(Some(accepted)) = ended {
                        break Ok(accepted);
                    }
                }
                connection = incoming.next() => match connection? {
                    Ok(connection) => under_way.begin(acceptor().accept(connection)),
                    Err(error) => break Err(error),
                },
            }
        };
        Some((next, (incoming, acceptor, under_way)))
    })
}

/// What is dropped gives up its handshakes.
struct UnderWay<T> {
    most: usize,
    tasks: JoinSet<T>,
    /// The oldest first; of those that have ended, some.
    in_order: VecDeque<AbortHandle>,
}

impl<T: Send + 'static> UnderWay<T> {
    fn up_to(most: usize) -> Self {
        Self { most, tasks: JoinSet::new(), in_order: VecDeque::new() }
    }

    fn begin(&mut self, handshake: impl Future<Output = T> + Send + 'static) {
        if self.in_order.len() >= self.most {
            self.in_order.retain(|handshake| !handshake.is_finished());
        }
        if self.in_order.len() >= self.most
            && let Some(oldest) = self.in_order.pop_front()
        {
            oldest.abort();
        }
        self.in_order.push_back(self.tasks.spawn(handshake));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    type Word = Result<&'static str, oneshot::error::RecvError>;

    /// A handshake that ends with a word.
    fn begin(under_way: &mut UnderWay<Word>) -> oneshot::Sender<&'static str> {
        let (word, said) = oneshot::channel();
        under_way.begin(said);
        word
    }

    #[tokio::test]
    async fn the_oldest_handshake_gives_way_where_too_many_have_not_ended() {
        let mut under_way = UnderWay::up_to(2);
        let (first, second) = (begin(&mut under_way), begin(&mut under_way));
        second.send("second").unwrap();
        assert_eq!(under_way.tasks.join_next().await.unwrap().unwrap(), Ok("second"));
        let third = begin(&mut under_way);
        assert!(!first.is_closed(), "there was room");
        let fourth = begin(&mut under_way);
        assert!(under_way.tasks.join_next().await.unwrap().unwrap_err().is_cancelled());
        assert!(first.is_closed() && !third.is_closed() && !fourth.is_closed());
    }
}
