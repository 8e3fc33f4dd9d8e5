//! A vendor call as reqwest wants it.

use super::{config::VendorConfig, endpoint::Endpoint, limits::SentAt};
use crate::codec::{Codec, EncodedCall};
use ::http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, CONTENT_TYPE},
};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use reqwest::{Method, Request};
use signalbox_types::{ErrorReason, Failure};
use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// The header that carries the key. Its value is marked sensitive, so that it shows in no `Debug`.
pub(super) type Credentials = (HeaderName, HeaderValue);

/// Makes the credentials of a vendor entry, once.
pub(super) fn credentials(codec: &dyn Codec, config: &VendorConfig) -> Result<Option<Credentials>, String> {
    let Some(key) = &config.api_key else { return Ok(None) };
    if key.is_empty() {
        return Err("api_key is empty; leave it out where the vendor needs none".to_owned());
    }
    let (name, value) = codec.credentials(key);
    let name =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is not a header name"))?;
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| "api_key holds a line break or another character that no header can carry".to_owned())?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

/// A request below the vendor's base URL, without credentials.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) content_type: HeaderValue,
    /// The body, in pieces that are sent one after the other.
    pub(super) body: Vec<Bytes>,
}

impl From<EncodedCall> for Ask {
    fn from(call: EncodedCall) -> Self {
        Self {
            method: Method::POST,
            path: call.path,
            headers: call.headers,
            content_type: JSON,
            body: vec![Bytes::from(call.body)],
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Builds the request of a call; `sent` is told when it goes out.
pub(super) fn build(
    endpoint: &Endpoint,
    credentials: Option<&Credentials>,
    ask: Ask,
    sent: Arc<SentAt>,
) -> Result<Request, Failure> {
    let mut request = Request::new(ask.method, endpoint.url(&ask.path));
    let body = NotedBody::new(ask.body, sent);
    *request.headers_mut() = headers(credentials, ask.content_type, ask.headers)?;
    *request.body_mut() = Some(reqwest::Body::wrap(body));
    Ok(request)
}

fn headers(
    credentials: Option<&Credentials>,
    content_type: HeaderValue,
    extra: Vec<(&'static str, String)>,
) -> Result<HeaderMap, Failure> {
    // Room for these and for the ones reqwest and hyper add.
    let mut headers = HeaderMap::with_capacity(extra.len() + 6);
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    if let Some((name, value)) = credentials {
        headers.insert(name.clone(), value.clone());
    }
    for (name, value) in extra {
        let unusable = |_| {
            Failure::new(ErrorReason::Internal, format!("header `{name}` of the vendor call is not usable"))
        };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable(()))?;
        let value = HeaderValue::try_from(value).map_err(|_| unusable(()))?;
        headers.insert(header, value);
    }
    Ok(headers)
}

/// A body that notes when the connection takes the last of it: from there on, silence is the vendor's.
struct NotedBody {
    pieces: std::vec::IntoIter<Bytes>,
    left: u64,
    sent: Arc<SentAt>,
}

impl NotedBody {
    fn new(mut pieces: Vec<Bytes>, sent: Arc<SentAt>) -> Self {
        pieces.retain(|piece| !piece.is_empty());
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        if left == 0 {
            // A body that is not there is not taken.
            sent.note();
        }
        Self { pieces: pieces.into_iter(), left, sent }
    }
}

impl Body for NotedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(piece) = self.pieces.next() else { return Poll::Ready(None) };
        self.left -= piece.len() as u64;
        if self.left == 0 {
            self.sent.note();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
