//! A network in between that is slow, or leads elsewhere.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU16, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    task::JoinHandle,
    time::{Instant, sleep_until},
};

/// Passes TCP connections on to a port of this machine. Ends when dropped, and its connections with it.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    port: Arc<AtomicU16>,
    delay_micros: Arc<AtomicU64>,
    /// Changes when connections are to be cut.
    cut: watch::Sender<()>,
    listening: JoinHandle<()>,
}

impl Proxy {
    /// One that leads to a port.
    pub async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.unwrap_or_else(|error| panic!("the proxy cannot listen: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let (port, delay_micros) = (Arc::new(AtomicU16::new(port)), Arc::new(AtomicU64::new(0)));
        let (cut, is_cut) = watch::channel(());
        let listening = tokio::spawn(listen(listener, port.clone(), delay_micros.clone(), is_cut));
        Self { address, port, delay_micros, cut, listening }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Leads to another port from now on, and cuts the connections to the one before.
    pub fn lead_to(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
        self.cut.send_replace(());
    }

    /// Keeps whatever comes back on its way for so long.
    pub fn delay(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.delay_micros.store(micros, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(
    listener: TcpListener,
    port: Arc<AtomicU16>,
    delay_micros: Arc<AtomicU64>,
    is_cut: watch::Receiver<()>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let (port, delay_micros) = (port.load(Ordering::Relaxed), delay_micros.clone());
        let mut is_cut = is_cut.clone();
        is_cut.mark_unchanged();
        tokio::spawn(async move {
            tokio::select! {
                // A connection that breaks is the callers' to notice.
                _ = pass(client, port, delay_micros) => {}
                _ = is_cut.changed() => {}
            }
        });
    }
}

async fn pass(client: TcpStream, port: u16, delay_micros: Arc<AtomicU64>) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", port)).await?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        ended = later(from_client, to_server, Arc::default()) => ended,
        ended = later(from_server, to_client, delay_micros) => ended,
    }
}

/// Passes bytes on after a delay, each as late as the others.
async fn later(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    delay_micros: Arc<AtomicU64>,
) -> io::Result<()> {
    let (sent, mut received) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let reading = async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = from.read(&mut buffer).await?;
            if length == 0 {
                return Ok(());
            }
            let due = Instant::now() + Duration::from_micros(delay_micros.load(Ordering::Relaxed));
            // The other half ends with this one.
            let _ = sent.send((due, buffer[..length].to_vec()));
        }
    };
    let writing = async {
        while let Some((due, bytes)) = received.recv().await {
            if due > Instant::now() {
                sleep_until(due).await;
            }
            to.write_all(&bytes).await?;
        }
        Ok(())
    };
    tokio::select! {
        ended = reading => ended,
        ended = writing => ended,
    }
}
