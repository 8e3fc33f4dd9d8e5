use super::*;
use crate::{
    access::LoneAuthenticator,
    hop::{self, Hop},
};
use bytes::{BufMut, Bytes};
use futures_util::{Stream, StreamExt, stream};
use signalbox_api::{
    status::from_status,
    v1::{
        self,
        provider_service_client::ProviderServiceClient,
        provider_service_server::{ProviderService, ProviderServiceServer},
    },
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tonic::{Request as GrpcRequest, Response as GrpcResponse, Status};

/// Leaks through an in-process call unless the boundary hides it.
#[derive(Clone)]
struct Leak;

/// Behaves as the called model's name says.
#[derive(Default)]
struct Peer {
    stopped: CancellationToken,
}

type Events = Pin<Box<dyn Stream<Item = Result<v1::StreamInvokeModelResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ProviderService for Peer {
    type StreamInvokeModelStream = Events;
    type WatchHealthStream = stream::Empty<Result<v1::WatchHealthResponse, Status>>;
    type StreamVendorBatchResultsStream = stream::Empty<Result<v1::StreamVendorBatchResultsResponse, Status>>;

    async fn invoke_model(
        &self,
        request: GrpcRequest<v1::InvokeModelRequest>,
    ) -> Result<GrpcResponse<v1::InvokeModelResponse>, Status> {
        match model(request.get_ref()) {
            "hang" => std::future::pending().await,
            "panic" => panic!("on purpose"),
            _ => {
                let seen = request.extensions().get::<Leak>().is_some();
                let vendor_finish_reason = if seen { "leaked" } else { "hidden" }.to_owned();
                Ok(GrpcResponse::new(v1::InvokeModelResponse { vendor_finish_reason, ..Default::default() }))
            }
        }
    }

    async fn stream_invoke_model(
        &self,
        request: GrpcRequest<v1::StreamInvokeModelRequest>,
    ) -> Result<GrpcResponse<Events>, Status> {
        let first = stream::iter([Ok(v1::StreamInvokeModelResponse::default())]);
        let guard = self.stopped.clone().drop_guard();
        let rest: Events = match model(&request.into_inner().request.unwrap()) {
            "hang" => Box::pin(stream::pending()),
            _ => Box::pin(stream::once(async {
                tokio::task::yield_now().await;
                panic!("on purpose")
            })),
        };
        let rest = rest.map(move |item| {
            let _kept_alive = &guard;
            item
        });
        Ok(GrpcResponse::new(Box::pin(first.chain(rest))))
    }

    async fn invoke_embedding(
        &self,
        _: GrpcRequest<v1::InvokeEmbeddingRequest>,
    ) -> Result<GrpcResponse<v1::InvokeEmbeddingResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn count_tokens(
        &self,
        _: GrpcRequest<v1::CountTokensRequest>,
    ) -> Result<GrpcResponse<v1::CountTokensResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn watch_health(
        &self,
        _: GrpcRequest<v1::WatchHealthRequest>,
    ) -> Result<GrpcResponse<Self::WatchHealthStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn submit_vendor_batch(
        &self,
        _: GrpcRequest<tonic::Streaming<v1::SubmitVendorBatchRequest>>,
    ) -> Result<GrpcResponse<v1::SubmitVendorBatchResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_vendor_batch(
        &self,
        _: GrpcRequest<v1::GetVendorBatchRequest>,
    ) -> Result<GrpcResponse<v1::GetVendorBatchResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn cancel_vendor_batch(
        &self,
        _: GrpcRequest<v1::CancelVendorBatchRequest>,
    ) -> Result<GrpcResponse<v1::CancelVendorBatchResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn stream_vendor_batch_results(
        &self,
        _: GrpcRequest<v1::StreamVendorBatchResultsRequest>,
    ) -> Result<GrpcResponse<Self::StreamVendorBatchResultsStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn delete_vendor_batch_files(
        &self,
        _: GrpcRequest<v1::DeleteVendorBatchFilesRequest>,
    ) -> Result<GrpcResponse<v1::DeleteVendorBatchFilesResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

fn model(request: &v1::InvokeModelRequest) -> &str {
    request.target.as_ref().map(|target| target.model.as_str()).unwrap_or_default()
}

fn invoke(model: &str) -> v1::InvokeModelRequest {
    v1::InvokeModelRequest {
        target: Some(v1::Target { vendor: "v".into(), model: model.into() }),
        ..Default::default()
    }
}

fn server(peer: Peer) -> ProviderServiceServer<Peer> {
    ProviderServiceServer::new(peer).max_decoding_message_size(1 << 20)
}

/// The same server within this process and over loopback.
fn both(make: impl Fn() -> Peer) -> Vec<(&'static str, ProviderServiceClient<Hop>)> {
    both_hops(make).into_iter().map(|(path, hop)| (path, ProviderServiceClient::new(hop))).collect()
}

fn both_hops(make: impl Fn() -> Peer) -> Vec<(&'static str, Hop)> {
    let listener = crate::serve::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap().remove(0);
    let address = listener.local_addr().unwrap();
    let routes = tonic::service::Routes::new(server(make()));
    let everybody = Arc::new(LoneAuthenticator::new(None, false));
    tokio::spawn(crate::serve::serve(
        listener,
        crate::serve::Entrance::Clear(everybody),
        routes,
        CancellationToken::new(),
        Duration::ZERO,
    ));
    let remote = hop::remote(&[format!("http://{address}")]).unwrap();
    vec![("local", hop::local(server(make()))), ("remote", remote)]
}

fn with_timeout<T>(message: T, millis: u64) -> GrpcRequest<T> {
    let mut request = GrpcRequest::new(message);
    request.set_timeout(Duration::from_millis(millis));
    request
}

#[tokio::test]
async fn a_deadline_ends_a_call_here_as_there() {
    for (path, mut client) in both(Peer::default) {
        let status = client.invoke_model(with_timeout(invoke("hang"), 40)).await.unwrap_err();
        assert_eq!(from_status(&status).reason, ErrorReason::DeadlineExceeded, "{path}: {status}");
    }
}

#[tokio::test]
async fn a_deadline_ends_a_stream_and_stops_its_handler() {
    let stopped = CancellationToken::new();
    for (path, mut client) in both(|| Peer { stopped: stopped.clone() }) {
        let request = v1::StreamInvokeModelRequest { request: Some(invoke("hang")) };
        let mut events = client.stream_invoke_model(with_timeout(request, 40)).await.unwrap().into_inner();
        assert!(events.message().await.unwrap().is_some());
        let status = events.message().await.unwrap_err();
        assert_eq!(from_status(&status).reason, ErrorReason::DeadlineExceeded, "{path}: {status}");
        stopped.cancelled().await;
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error_and_the_server_goes_on() {
    for (path, mut client) in both(Peer::default) {
        let status = client.invoke_model(invoke("panic")).await.unwrap_err();
        assert_eq!(from_status(&status).reason, ErrorReason::Internal, "{path}: {status}");
        let request = v1::StreamInvokeModelRequest { request: Some(invoke("panic")) };
        let mut events = client.stream_invoke_model(request).await.unwrap().into_inner();
        assert!(events.message().await.unwrap().is_some());
        let status = events.message().await.unwrap_err();
        assert_eq!(from_status(&status).reason, ErrorReason::Internal, "{path}: {status}");
        client.invoke_model(invoke("fine")).await.unwrap();
    }
}

#[tokio::test]
async fn extensions_do_not_cross() {
    for (path, mut client) in both(Peer::default) {
        let mut request = GrpcRequest::new(invoke("fine"));
        request.extensions_mut().insert(Leak);
        let answer = client.invoke_model(request).await.unwrap().into_inner();
        assert_eq!(answer.vendor_finish_reason, "hidden", "{path}");
    }
}

#[tokio::test]
async fn an_oversized_message_is_told_both_sizes() {
    for (path, mut client) in both(Peer::default) {
        let mut request = invoke("fine");
        request.request = Some(v1::GenerateRequest { system: "x".repeat(2 << 20), ..Default::default() });
        let failure = from_status(&client.invoke_model(request).await.unwrap_err());
        assert_eq!(failure.reason, ErrorReason::RequestTooLarge, "{path}: {failure}");
        assert!(failure.message.contains("1048576"), "{path}: {failure}");
    }
}

/// Sends bytes that no generated client would.
async fn call_raw(client: Hop, path: &'static str, message: impl Into<Bytes>) -> Failure {
    let mut grpc = tonic::client::Grpc::new(client);
    grpc.ready().await.unwrap();
    let request = GrpcRequest::new(message.into());
    let path = PathAndQuery::from_static(path);
    from_status(&grpc.unary(request, path, Raw).await.unwrap_err())
}

/// Messages as they are.
struct Raw;

impl tonic::codec::Codec for Raw {
    type Encode = Bytes;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl tonic::codec::Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, out: &mut tonic::codec::EncodeBuf<'_>) -> Result<(), Status> {
        out.put(item);
        Ok(())
    }
}

impl tonic::codec::Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, _: &mut tonic::codec::DecodeBuf<'_>) -> Result<Option<()>, Status> {
        Ok(Some(()))
    }
}

#[tokio::test]
async fn bytes_that_are_no_message_are_the_callers_fault() {
    const INVOKE: &str = "/signalbox.v1.ProviderService/InvokeModel";
    // Field 1 (the target), 3 bytes long: its field 1 (the vendor), 1 byte long, which is not UTF-8.
    let not_utf8: &[u8] = &[0x0a, 3, 0x0a, 1, 0xff];
    for message in [not_utf8, &[0x0a, 200], &[0xff; 20]] {
        for (path, hop) in both_hops(Peer::default) {
            let failure = call_raw(hop, INVOKE, message).await;
            assert_eq!(failure.reason, ErrorReason::InvalidRequest, "{path}: {failure}");
            let start = "not a valid protobuf message of /signalbox.v1.ProviderService/InvokeModel: ";
            assert!(failure.message.starts_with(start), "{path}: {failure}");
        }
    }
}

#[tokio::test]
async fn a_method_that_is_not_there_is_named() {
    for (path, hop) in both_hops(Peer::default) {
        let failure = call_raw(hop, "/signalbox.v1.ProviderService/Fly", &b""[..]).await;
        assert_eq!(failure.reason, ErrorReason::Unimplemented, "{path}: {failure}");
        assert_eq!(failure.message, "there is no method `/signalbox.v1.ProviderService/Fly` here", "{path}");
    }
    let (_, remote) = both_hops(Peer::default).remove(1);
    let failure = call_raw(remote, "/signalbox.v9.Nothing/Fly", &b""[..]).await;
    assert_eq!(failure.message, "there is no method `/signalbox.v9.Nothing/Fly` here");
}

#[tokio::test]
async fn an_encoding_that_is_not_taken_is_named_with_those_that_are() {
    for (path, hop) in both_hops(Peer::default) {
        let mut request = GrpcRequest::new(invoke("fine"));
        request.metadata_mut().insert("grpc-encoding", "snappy".parse().unwrap());
        let status = ProviderServiceClient::new(hop).invoke_model(request).await.unwrap_err();
        let failure = from_status(&status);
        assert_eq!(failure.reason, ErrorReason::Unimplemented, "{path}: {failure}");
        assert!(failure.message.contains("`snappy`"), "{path}: {failure}");
        assert!(status.metadata().contains_key("grpc-accept-encoding"), "{path}: {status}");
    }
}

#[tokio::test]
async fn small_calls_over_loopback_do_not_wait_for_delayed_acknowledgements() {
    let (_, mut client) = both(Peer::default).remove(1);
    let mut quickest = Duration::MAX;
    for _ in 0..20 {
        let started = Instant::now();
        client.invoke_model(invoke("fine")).await.unwrap();
        quickest = quickest.min(started.elapsed());
    }
    assert!(quickest < Duration::from_millis(20), "took {quickest:?}; is nodelay set?");
}

#[tokio::test]
async fn an_unreachable_peer_is_unavailable_and_another_one_serves() {
    let closed =
        crate::serve::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap().remove(0).local_addr().unwrap();
    let mut client = ProviderServiceClient::new(hop::remote(&[format!("http://{closed}")]).unwrap());
    let failure = from_status(&client.invoke_model(invoke("fine")).await.unwrap_err());
    assert_eq!(failure.reason, ErrorReason::Unavailable, "{failure}");
}
