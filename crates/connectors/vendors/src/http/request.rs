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

/// Builds the request of a call; `sent` is told when it goes out.
pub(super) fn build(
    endpoint: &Endpoint,
    credentials: Option<&Credentials>,
    call: EncodedCall,
    sent: Arc<SentAt>,
) -> Result<Request, Failure> {
    let mut request = Request::new(Method::POST, endpoint.url(&call.path));
    if call.body.is_empty() {
        // A body that is not there is not taken.
        sent.note();
    }
    *request.headers_mut() = headers(credentials, call.headers)?;
    *request.body_mut() = Some(reqwest::Body::wrap(NotedBody { bytes: Bytes::from(call.body), sent }));
    Ok(request)
}

fn headers(
    credentials: Option<&Credentials>,
    extra: Vec<(&'static str, String)>,
) -> Result<HeaderMap, Failure> {
    // Room for these and for the ones reqwest and hyper add.
    let mut headers = HeaderMap::with_capacity(extra.len() + 6);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
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

/// A body in one piece that notes when the connection takes it: from there on, silence is the vendor's.
struct NotedBody {
    bytes: Bytes,
    sent: Arc<SentAt>,
}

impl Body for NotedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.sent.note();
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
