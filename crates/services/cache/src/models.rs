//! Models that the cache calls for itself, through the role that calls all of them.

mod account;
mod embedder;
mod ngrams;
mod verifier;

pub(crate) use account::GRACE;
pub use embedder::EmbedderOverHop;
pub use ngrams::HashedNgrams;
pub use verifier::VerifierOverHop;
