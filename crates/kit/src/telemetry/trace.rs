//! Distributed traces: W3C context through every gRPC call, spans exported by OTLP when an endpoint is configured.
//!
//! Without an endpoint no span is made; an incoming `traceparent` still travels on, so that the caller's trace does
//! not break here.

use http::HeaderMap;
use opentelemetry::{
    Context, KeyValue, global,
    propagation::{Extractor, Injector, TextMapPropagator},
    trace::{SpanKind, Status as SpanStatus, TraceContextExt, Tracer, TracerProvider},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use std::sync::OnceLock;

static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Exports spans until the process ends.
#[derive(Debug)]
#[must_use = "spans that are left at the end are lost unless it is finished"]
pub struct Exporting(SdkTracerProvider);

impl Exporting {
    /// Sends what is left. Waits beside the runtime, which carries the connection.
    pub async fn finish(self) {
        match tokio::task::spawn_blocking(move || self.0.shutdown()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "some spans could not be sent at the end"),
            Err(error) => tracing::warn!(%error, "sending the last spans was cut off"),
        }
    }
}

/// Starts exporting spans to an OTLP/gRPC endpoint, as in `http://127.0.0.1:4317`. Must be called inside a runtime.
pub fn export_to(endpoint: &str, role: &str) -> Result<Exporting, String> {
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| format!("OTLP endpoint `{endpoint}`: {error}"))?;
    let resource = Resource::builder()
        .with_service_name("signalbox")
        .with_attribute(KeyValue::new("signalbox.roles", role.to_owned()));
    let provider =
        SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let _first_wins = PROVIDER.set(provider.clone());
    global::set_tracer_provider(provider.clone());
    Ok(Exporting(provider))
}

/// A span of work, or only the context that passes through when nothing is exported.
#[derive(Debug, Clone)]
pub struct Span {
    context: Context,
    recording: bool,
}

impl Span {
    /// The work of answering a gRPC call, whose headers may hold a trace context.
    pub fn server(method: &'static str, headers: &HeaderMap) -> Self {
        let parent = if headers.contains_key("traceparent") {
            TraceContextPropagator::new().extract(&Headers(headers))
        } else {
            Context::new()
        };
        Self::start(method, SpanKind::Server, &parent)
    }

    /// A step within this work.
    pub fn child(&self, name: impl Into<std::borrow::Cow<'static, str>>, kind: SpanKind) -> Self {
        if !self.recording {
            return self.clone();
        }
        Self::start(name, kind, &self.context)
    }

    fn start(name: impl Into<std::borrow::Cow<'static, str>>, kind: SpanKind, parent: &Context) -> Self {
        let Some(provider) = PROVIDER.get() else {
            return Self { context: parent.clone(), recording: false };
        };
        let tracer = provider.tracer("signalbox");
        let span = tracer.span_builder(name).with_kind(kind).start_with_context(&tracer, parent);
        Self { context: parent.with_span(span), recording: true }
    }

    /// Whether attributes will be seen by anyone; spares making them.
    pub fn is_recording(&self) -> bool {
        self.recording
    }

    /// Adds an attribute.
    pub fn set(&self, key: &'static str, value: impl Into<opentelemetry::Value>) {
        if self.recording {
            self.context.span().set_attribute(KeyValue::new(key, value));
        }
    }

    /// Marks the work as failed.
    pub fn fail(&self, description: &str) {
        if self.recording {
            self.context.span().set_status(SpanStatus::error(description.to_owned()));
        }
    }

    /// Ends the work.
    pub fn end(&self) {
        if self.recording {
            self.context.span().end();
        }
    }

    /// Writes the context into the headers of a call to the next role.
    pub fn inject(&self, headers: &mut HeaderMap) {
        if self.context.has_active_span() {
            TraceContextPropagator::new().inject_context(&self.context, &mut HeadersMut(headers));
        }
    }

    /// The trace's id in hexadecimal, for logs; empty where there is no trace.
    pub fn trace_id(&self) -> String {
        let context = self.context.span().span_context().clone();
        if context.is_valid() { context.trace_id().to_string() } else { String::new() }
    }
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}

struct HeadersMut<'a>(&'a mut HeaderMap);

impl Injector for HeadersMut<'_> {
    fn set(&mut self, key: &str, value: String) {
        if let (Ok(name), Ok(value)) = (http::HeaderName::try_from(key), http::HeaderValue::try_from(value)) {
            self.0.insert(name, value);
        }
    }
}
