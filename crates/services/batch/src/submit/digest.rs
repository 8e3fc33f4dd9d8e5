//! What was handed in, in a few bytes: by them is told whether the same is handed in again.

use prost::Message as _;
use sha2::{Digest as _, Sha256};
use signalbox_api::v1::{self, batch_item::Request};
use std::collections::BTreeMap;

/// Digests settings and items, in the order they come.
#[derive(Debug)]
pub(super) struct Digest(Sha256);

impl Digest {
    /// Of a job's settings; whose it is and what it is called is known otherwise.
    pub(super) fn of(job: &v1::BatchJob) -> Self {
        let v1::BatchJob { scene, reference, completion_window, .. } = job.clone();
        let settings = v1::BatchJob { scene, reference, completion_window, ..Default::default() };
        Self(Sha256::new().chain_update(settings.encode_length_delimited_to_vec()))
    }

    /// One more item. Its metadata have no order of their own, and would come in another each time.
    pub(super) fn add(&mut self, item: &mut v1::BatchItem) {
        let metadata = match &mut item.request {
            Some(Request::Generate(asked)) => std::mem::take(&mut asked.metadata),
            Some(Request::Embed(_)) | None => Default::default(),
        };
        self.0.update(item.encode_length_delimited_to_vec());
        self.0.update(metadata.len().to_be_bytes());
        for text in
            metadata.iter().collect::<BTreeMap<_, _>>().into_iter().flat_map(|(key, value)| [key, value])
        {
            self.0.update(text.len().to_be_bytes());
            self.0.update(text);
        }
        if let Some(Request::Generate(asked)) = &mut item.request {
            asked.metadata = metadata;
        }
    }

    /// Of all of it.
    pub(super) fn bytes(self) -> Vec<u8> {
        self.0.finalize().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(metadata: impl IntoIterator<Item = (String, String)>, model: &str) -> Vec<u8> {
        let asked = v1::GenerateRequest {
            model: model.into(),
            metadata: metadata.into_iter().collect(),
            ..Default::default()
        };
        let mut item = v1::BatchItem { item_id: "x".into(), request: Some(Request::Generate(asked)) };
        let before = item.clone();
        let mut digest = Digest::of(&v1::BatchJob::default());
        digest.add(&mut item);
        assert_eq!(item, before);
        digest.bytes()
    }

    #[test]
    fn the_order_of_metadata_does_not_count_and_all_else_does() {
        let many = || (0..50).map(|number| (format!("key{number}"), format!("value{number}")));
        let one = digest(many(), "m");
        assert_eq!(one, digest(many().collect::<Vec<_>>().into_iter().rev(), "m"));
        assert_ne!(one, digest(many().skip(1), "m"));
        assert_ne!(one, digest(many(), "n"));
    }
}
