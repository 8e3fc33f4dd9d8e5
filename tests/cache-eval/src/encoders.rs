//! What turns the sets' texts into vectors: the built-in n-grams, and real encoders behind their server.

use crate::sets::Pair;
use serde::Deserialize;
use signalbox_caching::ngrams;
use std::{
    error::Error,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Texts in one call.
const BATCH: usize = 64;

/// Cosine similarity of both texts of each pair, as the built-in embedder sees it.
pub fn builtin(pairs: &[Pair]) -> Vec<f32> {
    let similarity = |pair: &Pair| cosine(&ngrams::embed(&pair.stored), &ngrams::embed(&pair.asked));
    pairs.iter().map(similarity).collect()
}

/// The server of real encoders, as `tools/install.sh embedder` installs it. Ends with its owner.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The server ends when this closes.
    _stdin: Option<ChildStdin>,
    address: String,
}

#[derive(Deserialize)]
struct Ready {
    url: String,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    embedding: Vec<f32>,
}

impl Server {
    /// Starts it, and waits until it answers.
    ///
    /// # Errors
    /// It is not installed, or does not start.
    pub fn start(root: &Path) -> Result<Self> {
        let mut child = Command::new(root.join(".tools/bin/embedder"))
            .arg("--exit-with-stdin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the encoders: {error}; `tools/install.sh embedder` installs them"))?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let ready: Ready = serde_json::from_str(&line).map_err(|_| "the encoders did not start")?;
        let address = ready.url.trim_start_matches("http://").to_owned();
        Ok(Self { child, _stdin: stdin, address })
    }

    /// Cosine similarity of both texts of each pair, as a model sees it.
    ///
    /// # Errors
    /// The server does not answer as it should.
    pub fn similarities(&self, model: &str, pairs: &[Pair]) -> Result<Vec<f32>> {
        let texts: Vec<&str> =
            pairs.iter().flat_map(|pair| [pair.stored.as_str(), pair.asked.as_str()]).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.embed(model, batch)?);
        }
        Ok(vectors.chunks_exact(2).map(|both| cosine(&both[0], &both[1])).collect())
    }

    fn embed(&self, model: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let body = serde_json::json!({"model": model, "input": texts}).to_string();
        let answer: Answer = serde_json::from_str(&self.post("/v1/embeddings", &body)?)?;
        Ok(answer.data.into_iter().map(|embedding| embedding.embedding).collect())
    }

    fn post(&self, path: &str, body: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| io::Error::other("no answer"))?;
        if head.split(' ').nth(1) == Some("200") {
            Ok(body.to_owned())
        } else {
            Err(io::Error::other(body.to_owned()))
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE)
}
