//! The embedder that is always there.

use signalbox_caching::ngrams;
use signalbox_ports::cache::{Embedded, Embedder, NotEmbedded};

/// `hashed-ngrams-512`: needs no model and no download, and sees spelling, not meaning.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedNgrams;

#[async_trait::async_trait]
impl Embedder for HashedNgrams {
    fn id(&self) -> &str {
        ngrams::NAME
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, NotEmbedded> {
        Ok(Embedded { vectors: texts.iter().map(|text| ngrams::embed(text)).collect(), attempt: None })
    }
}
