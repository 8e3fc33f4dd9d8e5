//! A receiver of traces over OTLP.

use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::{AnyValue, KeyValue},
    trace::v1::Span as WireSpan,
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, task::JoinHandle};
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

/// A span that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Trace, in hexadecimal.
    pub trace: String,
    /// Span, in hexadecimal.
    pub id: String,
    /// The span that caused it, in hexadecimal; empty for none.
    pub parent: String,
    /// Its name.
    pub name: String,
    /// Attributes, shown as text.
    pub attributes: BTreeMap<String, String>,
    /// Attributes of the process it is from.
    pub process: BTreeMap<String, String>,
    /// What its status says; empty when all was well.
    pub status: String,
}

/// Receives traces until it is dropped.
#[derive(Debug)]
pub struct Otlp {
    address: SocketAddr,
    spans: Received,
    task: JoinHandle<()>,
}

impl Otlp {
    /// Listens on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.unwrap_or_else(|error| panic!("cannot listen for traces: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let spans = Received::default();
        let service = TraceServiceServer::new(spans.clone());
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let task = tokio::spawn(async move {
            let served = Server::builder().add_service(service).serve_with_incoming(incoming).await;
            served.unwrap_or_else(|error| panic!("the trace receiver failed: {error}"));
        });
        Self { address, spans, task }
    }

    /// What to write as `telemetry.otlp_endpoint`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans so far.
    pub fn spans(&self) -> Vec<Span> {
        self.spans.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Otlp {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Debug, Clone, Default)]
struct Received(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in request.into_inner().resource_spans {
            let process = attributes(resource.resource.unwrap_or_default().attributes);
            let scopes = resource.scope_spans.into_iter();
            spans.extend(scopes.flat_map(|scope| scope.spans).map(|span| read(span, &process)));
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn read(span: WireSpan, process: &BTreeMap<String, String>) -> Span {
    Span {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        name: span.name,
        attributes: attributes(span.attributes),
        process: process.clone(),
        status: span.status.map(|status| status.message).unwrap_or_default(),
    }
}

fn attributes(pairs: Vec<KeyValue>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|pair| (pair.key, text(pair.value))).collect()
}

fn text(value: Option<AnyValue>) -> String {
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    match value.and_then(|value| value.value) {
        None => String::new(),
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::BoolValue(yes)) => yes.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
