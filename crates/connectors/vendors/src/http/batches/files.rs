//! Files that nobody needs any more are deleted.

use super::super::client::HttpVendor;
use crate::batch::BatchCodec;
use http::StatusCode;
use reqwest::Method;
use signalbox_types::Failure;
use std::time::Duration;

impl HttpVendor {
    /// Those of a batch, as it names them itself. How many there were.
    pub(super) async fn delete_files_of(
        &self,
        codec: &dyn BatchCodec,
        id: &str,
        timeout: Option<Duration>,
    ) -> Result<u32, Failure> {
        if !codec.keeps_files() {
            return Ok(0);
        }
        let exchange = self.fetch(codec, codec.get(id), timeout).await?;
        let (body, origin) = self.document(codec, exchange).await?;
        let files = codec.files(&body).map_err(|failure| origin.sign(failure))?;
        let mut deleted = 0;
        for file in files {
            deleted += u32::from(self.delete(codec, file, timeout).await?);
        }
        Ok(deleted)
    }

    /// One whose batch was not made. Where that fails, it stays there until the vendor removes it.
    pub(super) async fn delete_uploaded(
        &self,
        codec: &dyn BatchCodec,
        file: &str,
        timeout: Option<Duration>,
    ) {
        if !codec.keeps_files() || file.is_empty() {
            return;
        }
        if let Err(failure) = self.delete(codec, codec.file(file), timeout).await {
            let (vendor, reason) = (&*self.name, failure.reason.name());
            tracing::warn!(vendor, reason, "the file of a batch that was not made stays at its vendor");
        }
    }

    /// Whether there was such a file.
    async fn delete(
        &self,
        codec: &dyn BatchCodec,
        path: String,
        timeout: Option<Duration>,
    ) -> Result<bool, Failure> {
        match self.exchange(self.ask(codec, Method::DELETE, path), timeout).await {
            Ok(exchange) => exchange.into_answer().await.map(|_| true),
            Err(failure) if failure.vendor_status == Some(StatusCode::NOT_FOUND.as_u16()) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}
