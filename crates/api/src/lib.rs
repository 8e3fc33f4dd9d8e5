//! The contract in Rust: generated types, clients and servers, their translation to and from the core's types, and
//! the one place that makes a [`tonic::Status`].

pub mod account;
pub mod convert;
pub mod json;
pub mod status;

/// Generated from `proto/signalbox/v1` by `make proto`; what it means is documented there.
pub mod v1 {
    #![expect(unused_qualifications, clippy::all, clippy::allow_attributes, reason = "generated")]
    include!("generated/signalbox.v1.rs");
}

/// The compiled protos, for reflection and for JSON.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptor.bin");
