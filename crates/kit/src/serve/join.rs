//! Joins the small writes of a connection.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;

/// Most bytes that wait for a flush, which one record of TLS holds; what is larger is written at once.
const HELD: usize = 16 * 1024;

/// A connection that writes when it is flushed, and does not write vectored.
///
/// To a vectored writer HTTP/2 hands an answer's data, where it has more than 256 bytes, apart from all else, and
/// flushes before the trailers: two packets, and so two system calls here and two wake-ups there, a tenth of all the
/// work of a call. For one that is not vectored it joins up to 1024 bytes of data with the frames around them; the
/// frames of larger data are joined here. Around TLS it joins what would each be a record of its own.
#[derive(Debug)]
pub(crate) struct Joining<T, I = ()> {
    inner: T,
    /// What handlers hear of the connection.
    info: I,
    held: Vec<u8>,
    /// What of `held` has been written.
    written: usize,
    flush: Flush,
}

/// When a connection that is flushed writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// At once.
    Now,
    /// When its task is polled again.
    NextTurn,
    /// Now, since the turn has come.
    ThisTurn,
}

impl<T, I> Joining<T, I> {
    pub(crate) fn new(inner: T, info: I) -> Self {
        Self { inner, info, held: Vec::new(), written: 0, flush: Flush::Now }
    }

    /// Writes one turn of its task after it is flushed. An HTTP/2 client flushes the head of a call before it asks for the
    /// message, which it then has a turn to hand over: one record of TLS, one system call and one wake-up of the other side
    /// in place of two.
    pub(crate) fn patient(inner: T, info: I) -> Self {
        Self { flush: Flush::NextTurn, ..Self::new(inner, info) }
    }
}

impl<T: AsyncWrite + Unpin, I> Joining<T, I> {
    fn poll_release(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.held.get(self.written..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut self.inner).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        self.held.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin, I: Unpin> AsyncWrite for Joining<T, I> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.held.len() + buf.len() > HELD {
            ready!(this.poll_release(cx))?;
        }
        if buf.len() > HELD {
            return Pin::new(&mut this.inner).poll_write(cx, buf);
        }
        this.held.extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.flush == Flush::NextTurn && !this.held.is_empty() {
            this.flush = Flush::ThisTurn;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        ready!(this.poll_release(cx))?;
        if this.flush == Flush::ThisTurn {
            this.flush = Flush::NextTurn;
        }
        Pin::new(&mut this.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_release(cx))?;
        Pin::new(&mut this.inner).poll_shutdown(cx)
    }
}

impl<T: AsyncRead + Unpin, I: Unpin> AsyncRead for Joining<T, I> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buf)
    }
}

impl<T, I: Clone + Send + Sync + 'static> Connected for Joining<T, I> {
    type ConnectInfo = I;

    fn connect_info(&self) -> I {
        self.info.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    fn pair(capacity: usize) -> (Joining<DuplexStream>, DuplexStream) {
        let (ours, theirs) = duplex(capacity);
        (Joining::new(ours, ()), theirs)
    }

    /// What the other side has got so far.
    fn arrived(theirs: &mut DuplexStream) -> String {
        let mut buffer = [0; 64 * 1024];
        let length = theirs.read(&mut buffer).now_or_never().map_or(0, |read| read.unwrap());
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[tokio::test]
    async fn small_writes_go_out_together_when_flushed() {
        let (mut ours, mut theirs) = pair(1024);
        ours.write_all(b"frame ").await.unwrap();
        ours.write_all(b"data").await.unwrap();
        assert_eq!(arrived(&mut theirs), "");
        ours.flush().await.unwrap();
        assert_eq!(arrived(&mut theirs), "frame data");
    }

    #[tokio::test]
    async fn a_patient_one_takes_along_what_comes_until_its_next_turn() {
        let (ours, mut theirs) = duplex(1024);
        let mut ours = Joining::patient(ours, ());
        for call in ["first", "second"] {
            ours.write_all(b"head of the ").await.unwrap();
            assert!(ours.flush().now_or_never().is_none());
            ours.write_all(call.as_bytes()).await.unwrap();
            assert_eq!(arrived(&mut theirs), "");
            ours.flush().await.unwrap();
            assert_eq!(arrived(&mut theirs), format!("head of the {call}"));
        }
    }

    #[tokio::test]
    async fn a_large_write_goes_out_at_once_after_what_was_held() {
        let (mut ours, mut theirs) = pair(64 * 1024);
        let large = "x".repeat(HELD + 1);
        ours.write_all(b"small ").await.unwrap();
        ours.write_all(large.as_bytes()).await.unwrap();
        assert_eq!(arrived(&mut theirs) + &arrived(&mut theirs), format!("small {large}"));
    }

    #[tokio::test]
    async fn nothing_is_lost_or_moved_when_the_socket_takes_little_at_a_time() {
        let (mut ours, mut theirs) = pair(7);
        let large = "x".repeat(HELD + 1);
        let writing = async {
            ours.write_all(b"0123456789").await.unwrap();
            ours.write_all(large.as_bytes()).await.unwrap();
            ours.write_all(b"end").await.unwrap();
            ours.shutdown().await.unwrap();
        };
        let mut all = String::new();
        let (_, read) = tokio::join!(writing, theirs.read_to_string(&mut all));
        read.unwrap();
        assert_eq!(all, format!("0123456789{large}end"));
    }
}
