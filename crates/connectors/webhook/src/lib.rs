//! Alerts as HTTP posts.

mod body;
mod client;
mod signature;

use async_trait::async_trait;
use http::{HeaderName, HeaderValue, StatusCode, header::CONTENT_TYPE};
use reqwest::Client;
use signalbox_kit::Clock;
use signalbox_ports::{AlertHook, AlertNews, NotTold};
use signature::Signer;
use std::{fmt, sync::Arc, time::Duration};

const DELIVERY: HeaderName = HeaderName::from_static("signalbox-delivery");
const SIGNATURE: HeaderName = HeaderName::from_static("signalbox-signature");

/// Where to post.
pub struct WebhookOptions {
    /// The address. It may be a secret by itself, and is never shown.
    pub url: String,
    /// What posts are signed with.
    pub secret: Option<String>,
    /// Time that the receiver gets.
    pub timeout: Duration,
}

impl fmt::Debug for WebhookOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// [`AlertHook`] over HTTP: a receiver that answers 2xx has heard.
pub struct Webhook {
    options: WebhookOptions,
    client: Client,
    signer: Option<Signer>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Webhook {
    /// Does not ask the receiver yet.
    ///
    /// # Errors
    /// The address cannot be read, or TLS cannot be set up.
    pub fn new(options: WebhookOptions, clock: Arc<dyn Clock>) -> Result<Self, String> {
        let client = client::client(&options.url)?;
        let signer = options.secret.as_deref().map(Signer::new);
        Ok(Self { options, client, signer, clock })
    }
}

#[async_trait]
impl AlertHook for Webhook {
    async fn post(&self, news: &AlertNews) -> Result<(), NotTold> {
        let body = body::json(news)?;
        let mut request = self
            .client
            .post(&self.options.url)
            .timeout(self.options.timeout)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(DELIVERY, &news.id);
        if let Some(signer) = &self.signer {
            request = request.header(SIGNATURE, signer.sign(body.as_bytes(), self.clock.now()));
        }
        let response = request.body(body).send().await.map_err(|error| self.no_answer(&error))?;
        judge(response.status())
    }
}

impl Webhook {
    /// In words without the address.
    fn no_answer(&self, error: &reqwest::Error) -> NotTold {
        match error {
            error if error.is_timeout() => {
                NotTold::Yet(format!("no answer within {} ms", self.options.timeout.as_millis()))
            }
            error if error.is_connect() => NotTold::Yet("it cannot be reached".to_owned()),
            error if error.is_builder() => NotTold::Ever("it cannot be asked".to_owned()),
            _ => NotTold::Yet("its answer broke off".to_owned()),
        }
    }
}

fn judge(status: StatusCode) -> Result<(), NotTold> {
    let passing = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    match status {
        status if status.is_success() => Ok(()),
        status if status.is_server_error() || passing => Err(NotTold::Yet(format!("it answers {status}"))),
        status => Err(NotTold::Ever(format!("it answers {status}"))),
    }
}
