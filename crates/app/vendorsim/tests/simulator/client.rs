//! A client that shows what came over the wire, even where it ended badly.

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use signalbox_vendorsim::Simulator;
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    /// Whether the body ended as HTTP has it.
    pub(crate) whole: bool,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The JSON of every `data:` line.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

/// A simulator on a free port.
pub(crate) async fn start() -> Simulator {
    Simulator::builder().bind("127.0.0.1:0").await.unwrap()
}

/// Sends a request; `None` where the connection closes without an answer.
pub(crate) async fn send(
    simulator: &Simulator,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Option<Seen> {
    let bytes = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    send_bytes(simulator, method, path, headers, bytes).await
}

/// The same, with a body that is no JSON.
pub(crate) async fn send_bytes(
    simulator: &Simulator,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Option<Seen> {
    let stream = TcpStream::connect(simulator.addr()).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driver = tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path).header("host", "simulator");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = sender.send_request(request.body(Full::new(body)).unwrap()).await.ok()?;
    let (head, mut incoming) = response.into_parts();
    let mut received = Vec::new();
    let mut whole = true;
    while let Some(frame) = incoming.frame().await {
        match frame {
            Ok(frame) => received.extend_from_slice(frame.data_ref().unwrap()),
            Err(_) => whole = false,
        }
    }
    driver.abort();
    let body = String::from_utf8(received).unwrap();
    Some(Seen { status: head.status.as_u16(), headers: head.headers, body, whole })
}

/// The headers that a vendor wants.
pub(crate) fn headers(vendor: &str) -> Vec<(&'static str, &'static str)> {
    match vendor {
        "anthropic" => vec![("x-api-key", "key"), ("anthropic-version", "2026-10-21")],
        "gemini" => vec![("x-goog-api-key", "key")],
        _ => vec![("authorization", "Bearer key")],
    }
}

/// Posts to a vendor with a good key.
pub(crate) async fn post(simulator: &Simulator, vendor: &str, path: &str, body: &Value) -> Seen {
    send(simulator, "POST", &format!("/{vendor}{path}"), &headers(vendor), body).await.unwrap()
}

/// Gets something from a vendor with a good key.
pub(crate) async fn get(simulator: &Simulator, vendor: &str, path: &str) -> Seen {
    send(simulator, "GET", &format!("/{vendor}{path}"), &headers(vendor), &Value::Null).await.unwrap()
}
