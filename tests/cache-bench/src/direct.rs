//! A vendor, called without anything in between.

use crate::ask::MODEL;
use serde_json::json;
use std::{io, net::SocketAddr};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

/// A connection to a simulated vendor.
pub(crate) struct Direct {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Direct {
    pub(crate) async fn connect(vendors: SocketAddr, text: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(vendors).await?;
        stream.set_nodelay(true)?;
        let model = MODEL.rsplit('/').next().unwrap_or(MODEL);
        let body = json!({"model": model, "messages": [{"role": "user", "content": text}]}).to_string();
        let head = format!(
            "POST /openai/v1/chat/completions HTTP/1.1\r\nhost: {vendors}\r\nauthorization: Bearer a-key\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len(),
        );
        Ok(Self { stream: BufReader::new(stream), request: [head, body].concat().into_bytes() })
    }

    /// One call, read to its end.
    pub(crate) async fn call(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(&self.request).await?;
        let mut length = None;
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).await?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().ok();
            }
        }
        let length: usize =
            length.ok_or_else(|| io::Error::other("the vendor did not say how much comes"))?;
        self.stream.read_exact(&mut vec![0; length]).await?;
        Ok(())
    }
}
