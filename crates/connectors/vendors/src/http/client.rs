//! One vendor entry of the catalogue, over HTTP.

use super::{
    bulkhead::{Bulkhead, NoPlace, Place},
    cause::Cause,
    config::{ConfigureVendorError, Timeouts, VendorConfig},
    endpoint::Endpoint,
    exchange::Exchange,
    limits::{Limits, Stage},
    request::{self, Ask, Credentials},
    secrets::Secrets,
    tls,
};
use crate::codec::{Codec, EncodeContext, ResponseHead, codec_for};
use ::http::HeaderMap;
use async_trait::async_trait;
use reqwest::{Client, Request, Response, redirect, retry};
use signalbox_ports::{BoxAnswerStream, VendorApi, VendorReply, VendorTarget, vendor_batch::VendorBatches};
use signalbox_types::{EmbedRequest, EmbeddingAnswer, ErrorReason, Failure, ModelAnswer, Prompt};
use std::{
    fmt, mem,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Calls that every HTTP/2 server lets one connection carry at once (RFC 9113, 6.5.2, advises no fewer).
const HTTP2_CALLS: usize = 100;

/// A connection to one vendor entry: its codec, with the connection pool, timeouts and credentials to call it.
///
/// Its connections belong to the runtime that first used them: make one for each runtime, all sharing one
/// [`Bulkhead`].
///
/// ```
/// use signalbox_types::VendorKind;
/// use signalbox_vendors::{Bulkhead, HttpVendor, Timeouts, VendorConfig};
/// use std::time::Duration;
///
/// let config = VendorConfig {
///     name: "local".to_owned(),
///     kind: VendorKind::Ollama,
///     base_url: Some("http://127.0.0.1:11434".to_owned()),
///     api_key: None,
///     timeouts: Timeouts {
///         connect: Duration::from_secs(3),
///         first_byte: Duration::from_secs(60),
///         idle: Duration::from_secs(30),
///         total: Duration::from_secs(600),
///     },
///     max_concurrency: 8,
///     max_queue: 64,
///     simulated: false,
/// };
/// let bulkhead = Bulkhead::for_vendor(&config);
/// let vendor = HttpVendor::new(config, bulkhead)?;
/// # Ok::<(), signalbox_vendors::ConfigureVendorError>(())
/// ```
#[derive(Clone)]
pub struct HttpVendor {
    pub(super) name: Arc<str>,
    pub(super) codec: &'static dyn Codec,
    client: Client,
    endpoint: Endpoint,
    credentials: Option<Credentials>,
    secrets: Arc<Secrets>,
    bulkhead: Arc<Bulkhead>,
    pub(super) timeouts: Timeouts,
    simulated: bool,
}

impl HttpVendor {
    /// A client of the vendor entry, with a connection pool of its own.
    pub fn new(config: VendorConfig, bulkhead: Arc<Bulkhead>) -> Result<Self, ConfigureVendorError> {
        Self::with_codec(codec_for(config.kind), config, bulkhead)
    }

    pub(super) fn with_codec(
        codec: &'static dyn Codec,
        config: VendorConfig,
        bulkhead: Arc<Bulkhead>,
    ) -> Result<Self, ConfigureVendorError> {
        config.check()?;
        let base_url = config.base_url.as_deref().or_else(|| codec.default_base_url());
        let base_url = base_url
            .ok_or_else(|| config.error("base_url is missing; this kind of vendor has no default"))?;
        let endpoint = Endpoint::parse(base_url).map_err(|problem| config.error(problem))?;
        let credentials = request::credentials(codec, &config).map_err(|problem| config.error(problem))?;
        let secrets = Secrets::of(config.api_key.as_deref()).map_err(|problem| config.error(problem))?;
        let client = client(&endpoint, &config).map_err(|problem| config.error(problem))?;
        Ok(Self {
            name: config.name.into(),
            codec,
            client,
            endpoint,
            credentials,
            secrets: Arc::new(secrets),
            bulkhead,
            timeouts: config.timeouts,
            simulated: config.simulated,
        })
    }

    /// Makes a call and gives it back once it has been answered with a success status.
    pub(super) async fn exchange(
        &self,
        call: impl Into<Ask>,
        timeout: Option<Duration>,
    ) -> Result<Exchange, Failure> {
        self.exchange_within(call.into(), Limits::begin(self.timeouts, timeout)).await
    }

    /// The same within limits of its own.
    pub(super) async fn exchange_within(&self, ask: Ask, limits: Limits) -> Result<Exchange, Failure> {
        let place = self.bulkhead.enter(limits.place_due()).await.map_err(|no_place| self.busy(no_place))?;
        let request = request::build(&self.endpoint, self.credentials.as_ref(), ask, limits.sent())?;
        let response = self.head(request, &limits, &place).await?;
        let succeeded = response.status().is_success();
        let exchange = Exchange::new(
            Arc::clone(&self.name),
            Arc::clone(&self.secrets),
            self.codec,
            response,
            limits,
            place,
        );
        if succeeded { Ok(exchange) } else { Err(exchange.into_failure(self.codec, wall_clock()).await) }
    }

    async fn head(&self, request: Request, limits: &Limits, place: &Place) -> Result<Response, Failure> {
        tokio::select! {
            biased;
            response = self.client.execute(request) => response.map_err(|error| self.no_answer(&error, limits)),
            stage = limits.first_byte_overdue() => {
                place.timed_out(stage);
                Err(limits.timeout(&self.name, stage))
            }
        }
    }

    fn busy(&self, no_place: NoPlace) -> Failure {
        Failure::new(ErrorReason::VendorBusy, format!("vendor `{}` is busy: {no_place}", self.name))
    }

    fn no_answer(&self, error: &reqwest::Error, limits: &Limits) -> Failure {
        if error.is_connect() && error.is_timeout() {
            return limits.timeout(&self.name, Stage::Connect);
        }
        let (vendor, authority, cause) = (&self.name, &self.endpoint.authority, Cause::of(error));
        let (reason, what) = match &cause {
            Cause::NotHttp => (ErrorReason::VendorBadResponse, "no answer from"),
            _ if error.is_connect() => (ErrorReason::VendorUnreachable, "no connection to"),
            _ => (ErrorReason::VendorUnreachable, "no answer from"),
        };
        Failure::new(reason, format!("vendor `{vendor}`: {what} {authority}: {cause}"))
    }
}

#[async_trait]
impl VendorApi for HttpVendor {
    async fn generate(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<ModelAnswer>, Failure> {
        let mut call = self.codec.encode(context(target, false), prompt)?;
        let (adjustments, json_tool) = (mem::take(&mut call.adjustments), call.json_tool.take());
        let exchange = self.exchange(call, target.timeout).await?;
        let (mut value, origin) = exchange.into_model_answer(self.codec, json_tool.as_deref()).await?;
        origin.secrets.mask_answer(&mut value);
        Ok(origin.reply(value, adjustments))
    }

    async fn stream(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<BoxAnswerStream>, Failure> {
        let mut call = self.codec.encode(context(target, true), prompt)?;
        let (adjustments, json_tool) = (mem::take(&mut call.adjustments), call.json_tool.take());
        let exchange = self.exchange(call, target.timeout).await?;
        let decoder = self.codec.stream_decoder(json_tool.as_deref());
        let (value, origin) = exchange.into_stream(decoder);
        Ok(origin.reply(value, adjustments))
    }

    async fn embed(
        &self,
        target: VendorTarget<'_>,
        request: &EmbedRequest,
    ) -> Result<VendorReply<EmbeddingAnswer>, Failure> {
        let mut call = self.codec.encode_embed(context(target, false), request)?;
        let adjustments = mem::take(&mut call.adjustments);
        let (body, origin) = self.exchange(call, target.timeout).await?.into_answer().await?;
        let mut value = self.codec.decode_embed(body.as_slice()).map_err(|failure| origin.sign(failure))?;
        origin.secrets.mask(&mut value.model);
        Ok(origin.reply(value, adjustments))
    }

    async fn count_tokens(&self, target: VendorTarget<'_>, prompt: &Prompt) -> Result<Option<u64>, Failure> {
        let Some(call) = self.codec.encode_count_tokens(context(target, false), prompt)? else {
            return Ok(None);
        };
        let (body, origin) = self.exchange(call, target.timeout).await?.into_answer().await?;
        self.codec.decode_count_tokens(body.as_slice()).map(Some).map_err(|failure| origin.sign(failure))
    }

    fn failure_of(&self, status: u16) -> Failure {
        let head = ResponseHead { status, headers: &HeaderMap::new(), now: wall_clock() };
        let mut failure = self.codec.decode_failure(head, &[]);
        failure.vendor_status.get_or_insert(status);
        failure
    }

    fn simulated(&self) -> bool {
        self.simulated
    }

    fn batches(&self) -> Option<&dyn VendorBatches> {
        self.codec.batches().map(|_| self as &dyn VendorBatches)
    }
}

/// Everything but the key.
impl fmt::Debug for HttpVendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpVendor")
            .field("name", &self.name)
            .field("codec", &self.codec)
            .field("authority", &self.endpoint.authority)
            .field("bulkhead", &self.bulkhead)
            .field("timeouts", &self.timeouts)
            .field("simulated", &self.simulated)
            .finish_non_exhaustive()
    }
}

pub(super) fn context(target: VendorTarget<'_>, stream: bool) -> EncodeContext<'_> {
    EncodeContext { model: target.model, facts: target.facts, stream }
}

fn client(endpoint: &Endpoint, config: &VendorConfig) -> Result<Client, String> {
    // One HTTP/2 connection is all that the pool opens to a host. Where more calls may be under way than a server
    // surely takes on one, the rest would wait unseen, so that HTTP/1.1 with a connection for each is right.
    let http2 = endpoint.tls && config.max_concurrency <= HTTP2_CALLS;
    let mut tls = if endpoint.tls { tls::system_trust() } else { tls::no_trust() }?;
    tls.alpn_protocols =
        if http2 { vec![b"h2".to_vec(), b"http/1.1".to_vec()] } else { vec![b"http/1.1".to_vec()] };
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("signalbox/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(config.timeouts.connect)
        .pool_max_idle_per_host(config.max_concurrency)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10));
    // Elsewhere HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY of the environment hold.
    let builder = if endpoint.loopback { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| format!("the HTTP client cannot be made: {}", error.without_url()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "vendors' reset times are wall time, and the codecs take it from here"
)]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}
