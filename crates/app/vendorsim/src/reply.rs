//! What a vendor sends back, before faults are done to it.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde::Serialize;

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Content {
    /// All at once, with its length.
    Whole(Bytes),
    /// Piece by piece.
    Frames(Frames),
}

/// A streamed body.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) frames: Vec<Frame>,
    /// The vendor's error within a stream, given how many frames went before it.
    pub(crate) error: fn(usize) -> Bytes,
}

/// A piece of a streamed body.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) bytes: Bytes,
    /// Whether it carries a token of the answer, as opposed to framing, roles and counts.
    pub(crate) token: bool,
}

impl Frame {
    /// A piece that carries a token.
    pub(crate) fn token(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), token: true }
    }

    /// A piece that carries none.
    pub(crate) fn plain(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), token: false }
    }
}

impl Reply {
    /// A JSON body.
    pub(crate) fn json(status: u16, body: &impl Serialize) -> Self {
        Self::whole(status, "application/json", serde_json::to_vec(body).unwrap_or_default())
    }

    /// A body of any type.
    pub(crate) fn whole(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::with(status, content_type, Content::Whole(body.into()))
    }

    /// A streamed body.
    pub(crate) fn stream(content_type: &'static str, frames: Vec<Frame>, error: fn(usize) -> Bytes) -> Self {
        Self::with(200, content_type, Content::Frames(Frames { frames, error }))
    }

    /// The page that a proxy before the vendor shows.
    pub(crate) fn html(status: u16) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        let page = format!("<html><head><title>{status}</title></head><body>cloudflare</body></html>");
        Self::whole(status.as_u16(), "text/html", page)
    }

    fn with(status: u16, content_type: &'static str, content: Content) -> Self {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers,
            content,
        }
    }

    /// The same with a header more.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    /// The same with several headers more.
    pub(crate) fn headers(self, pairs: &[(&'static str, &str)]) -> Self {
        pairs.iter().fold(self, |reply, (name, value)| reply.header(name, value))
    }
}

/// A server-sent event without a name.
pub(crate) fn sse_data(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = b"data: ".to_vec();
    // Writing JSON to memory fails only for maps with odd keys, and none are sent here.
    let _ = serde_json::to_writer(&mut bytes, value);
    bytes.extend_from_slice(b"\n\n");
    bytes
}

/// A named server-sent event.
pub(crate) fn sse_event(name: &str, value: &impl Serialize) -> Vec<u8> {
    let mut bytes = format!("event: {name}\ndata: ").into_bytes();
    let _ = serde_json::to_writer(&mut bytes, value);
    bytes.extend_from_slice(b"\n\n");
    bytes
}
