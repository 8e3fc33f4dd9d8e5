//! Any method of the contract, called with any message.

use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, prost::Message as _};
use std::str::FromStr;
use tonic::{
    Request, Status,
    client::{Grpc, GrpcService},
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::{Body, StdError, http::uri::PathAndQuery},
};

/// Every method of the contract.
pub(super) fn methods() -> Vec<MethodDescriptor> {
    let contract = DescriptorPool::decode(signalbox_api::DESCRIPTOR_SET).unwrap();
    contract.services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect()
}

/// A way to a process: a hop, or a connection.
pub(super) trait Way: GrpcService<tonic::body::Body, ResponseBody: Answer> {}

impl<T: GrpcService<tonic::body::Body, ResponseBody: Answer>> Way for T {}

/// What comes back on it.
pub(super) trait Answer:
    Body<Data = bytes::Bytes, Error: Into<StdError> + Send> + Send + 'static
{
}

impl<T: Body<Data = bytes::Bytes, Error: Into<StdError> + Send> + Send + 'static> Answer for T {}

/// Calls a method and waits for the first message of its answer, or for its end.
pub(super) async fn call(
    way: impl Way,
    method: &MethodDescriptor,
    message: DynamicMessage,
) -> Result<(), Status> {
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut client = Grpc::new(way);
    client.ready().await.map_err(|_| Status::unavailable("nobody is there"))?;
    let messages = futures_util::stream::iter([message.encode_to_vec()]);
    let path = PathAndQuery::from_str(&path).unwrap();
    client.streaming(Request::new(messages), path, Bytes).await?.into_inner().message().await.map(|_| ())
}

/// Messages as they are.
#[derive(Debug, Clone, Copy, Default)]
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes::BufMut::put_slice(buffer, &message);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        let length = bytes::Buf::remaining(buffer);
        bytes::Buf::advance(buffer, length);
        Ok(Some(()))
    }
}
