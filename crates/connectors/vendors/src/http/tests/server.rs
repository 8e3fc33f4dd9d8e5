//! A vendor that plays the same script to every request.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Notify, mpsc},
};

/// One step of a script.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Sends these bytes.
    Send(String),
    /// Sends these bytes again and again, until the client goes away.
    Drip(&'static str),
    /// Waits until the test says go.
    Await,
    /// Says no more, until the client goes away.
    Hang,
    /// Closes the connection in good order.
    Close,
    /// Resets the connection.
    Reset,
}

/// The head of a chunked answer.
pub(super) fn chunked() -> Act {
    Act::Send("HTTP/1.1 200 OK\r\nx-request-id: req-1\r\ntransfer-encoding: chunked\r\n\r\n".to_owned())
}

/// One chunk.
pub(super) fn chunk(text: &str) -> Act {
    Act::Send(format!("{:x}\r\n{text}\r\n", text.len()))
}

/// The end of a chunked answer.
pub(super) fn end() -> Act {
    Act::Send("0\r\n\r\n".to_owned())
}

/// A whole answer.
pub(super) fn answer(status: u16, body: &str) -> Act {
    let length = body.len();
    Act::Send(format!("HTTP/1.1 {status} X\r\nx-request-id: req-1\r\ncontent-length: {length}\r\n\r\n{body}"))
}

pub(super) struct Server {
    pub(super) url: String,
    accepted: Arc<AtomicUsize>,
    requests: mpsc::UnboundedReceiver<String>,
    closed: mpsc::UnboundedReceiver<()>,
    go: Arc<Notify>,
}

struct Player {
    script: Vec<Act>,
    requests: mpsc::UnboundedSender<String>,
    closed: mpsc::UnboundedSender<()>,
    go: Arc<Notify>,
}

impl Server {
    pub(super) async fn start(script: impl Into<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (accepted, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (requests_in, requests) = mpsc::unbounded_channel();
        let (closed_in, closed) = mpsc::unbounded_channel();
        let player =
            Player { script: script.into(), requests: requests_in, closed: closed_in, go: Arc::clone(&go) };
        let (player, count) = (Arc::new(player), Arc::clone(&accepted));
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(connection, Arc::clone(&player)));
            }
        });
        Self { url, accepted, requests, closed, go }
    }

    /// Connections so far.
    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The next request, as it came.
    pub(super) async fn request(&mut self) -> String {
        self.requests.recv().await.unwrap()
    }

    /// Waits until a client has gone away in the middle of a script.
    pub(super) async fn client_gone(&mut self) {
        let gone = tokio::time::timeout(Duration::from_secs(10), self.closed.recv()).await;
        gone.expect("the client keeps its connection open").unwrap();
    }

    /// Lets one script go on.
    pub(super) fn go(&self) {
        self.go.notify_one();
    }
}

async fn serve(mut connection: TcpStream, player: Arc<Player>) {
    connection.set_nodelay(true).unwrap();
    while let Some(request) = read_request(&mut connection).await {
        let _ = player.requests.send(request);
        for act in &player.script {
            if !play(act, &mut connection, &player).await {
                return;
            }
        }
    }
}

/// Plays one step; `false` where it was the connection's last.
async fn play(act: &Act, connection: &mut TcpStream, player: &Player) -> bool {
    match act {
        Act::Send(bytes) => connection.write_all(bytes.as_bytes()).await.is_ok(),
        Act::Await => {
            player.go.notified().await;
            true
        }
        Act::Drip(bytes) => {
            while connection.write_all(bytes.as_bytes()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let _ = player.closed.send(());
            false
        }
        Act::Hang => {
            let _ = connection.read(&mut [0; 1]).await;
            let _ = player.closed.send(());
            false
        }
        Act::Close => false,
        Act::Reset => {
            connection.set_zero_linger().unwrap();
            false
        }
    }
}

async fn read_request(connection: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        if connection.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
}
