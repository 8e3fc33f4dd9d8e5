//! Protobuf's JSON form of any message, as `grpcurl` shows it.

use crate::DESCRIPTOR_SET;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use std::sync::LazyLock;

/// The text is not the JSON form of the message, or the message has no descriptor.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(String);

static POOL: LazyLock<Result<DescriptorPool, String>> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTOR_SET).map_err(|error| error.to_string()));

fn descriptor<M: prost::Name>() -> Result<MessageDescriptor, JsonError> {
    let pool = POOL.as_ref().map_err(|error| JsonError(error.clone()))?;
    let name = M::full_name();
    pool.get_message_by_name(&name).ok_or_else(|| JsonError(format!("no descriptor of {name}")))
}

/// Reads a message from its JSON form. Unknown fields are errors that name the field.
pub fn from_json<M: Message + prost::Name + Default>(text: &str) -> Result<M, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let message = DynamicMessage::deserialize(descriptor::<M>()?, &mut reader)
        .and_then(|message| reader.end().map(|()| message))
        .map_err(|error| JsonError(error.to_string()))?;
    message.transcode_to().map_err(|error| JsonError(error.to_string()))
}

/// The JSON form of a message, indented; fields at their default are left out.
pub fn to_json<M: Message + prost::Name>(message: &M) -> Result<String, JsonError> {
    let mut bytes = Vec::new();
    write(message, &mut serde_json::Serializer::pretty(&mut bytes))?;
    text(bytes)
}

/// As [`to_json`], on one line.
pub fn to_json_line<M: Message + prost::Name>(message: &M) -> Result<String, JsonError> {
    let mut bytes = Vec::new();
    write(message, &mut serde_json::Serializer::new(&mut bytes))?;
    text(bytes)
}

fn write<M, F>(message: &M, writer: &mut serde_json::Serializer<&mut Vec<u8>, F>) -> Result<(), JsonError>
where
    M: Message + prost::Name,
    F: serde_json::ser::Formatter,
{
    let mut dynamic = DynamicMessage::new(descriptor::<M>()?);
    dynamic.transcode_from(message).map_err(|error| JsonError(error.to_string()))?;
    dynamic
        .serialize_with_options(writer, &SerializeOptions::new())
        .map_err(|error| JsonError(error.to_string()))
}

fn text(json: Vec<u8>) -> Result<String, JsonError> {
    String::from_utf8(json).map_err(|error| JsonError(error.to_string()))
}
