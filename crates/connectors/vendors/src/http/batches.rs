//! The batch endpoint of a vendor entry, over HTTP.
//!
//! The vendor entry's limits hold as for other calls, but for one: what moves a whole batch may take longer than an
//! answer does.

mod files;
mod find;
mod read;
mod upload;

use super::{
    client::{HttpVendor, context},
    exchange::Exchange,
    limits::Limits,
    request::Ask,
};
use crate::batch::{BatchCodec, NewBatch, decode_upload};
use ::http::HeaderValue;
use async_trait::async_trait;
use bytes::Bytes;
use reqwest::Method;
use signalbox_ports::{
    VendorTarget,
    vendor_batch::{
        BatchAsk, BatchLimits, EncodedItem, ItemResults, Parcel, VendorBatch, VendorBatchState, VendorBatches,
    },
};
use signalbox_types::{ErrorReason, Failure};
use std::{borrow::Cow, collections::HashMap, mem, time::Duration};

/// Least time for a call that moves a whole batch.
const TRANSFER_TIME: Duration = Duration::from_mins(30);

#[async_trait]
impl VendorBatches for HttpVendor {
    fn limits(&self) -> BatchLimits {
        self.codec.batches().map_or(BatchLimits { items: 0, bytes: 0 }, BatchCodec::limits)
    }

    fn encode(&self, target: VendorTarget<'_>, key: &str, ask: BatchAsk<'_>) -> Result<EncodedItem, Failure> {
        let codec = self.batch_codec()?;
        let facts: Cow<'_, _> = codec.facts(target.facts);
        let context = context(VendorTarget { facts: &facts, ..target }, false);
        let (mut call, weight) = match ask {
            BatchAsk::Generate(prompt) => (self.codec.encode(context, prompt)?, 1),
            BatchAsk::Embed(request) if codec.embeds() => {
                (self.codec.encode_embed(context, request)?, request.inputs.len())
            }
            BatchAsk::Embed(_) => return Err(self.no_batches("takes no batches of embeddings")),
        };
        let bytes = codec.item(key, &call)?;
        let adjustments = mem::take(&mut call.adjustments);
        Ok(EncodedItem {
            key: key.to_owned(),
            path: call.path,
            weight,
            bytes,
            adjustments,
            json_tool: call.json_tool,
        })
    }

    async fn submit(&self, target: VendorTarget<'_>, parcel: Parcel) -> Result<VendorBatch, Failure> {
        let codec = self.batch_codec()?;
        let path = one_path(&parcel)?;
        if let Some(since) = parcel.maybe_since
            && let Some(found) = self.find(codec, &parcel, since, target.timeout).await?
        {
            return Ok(found);
        }
        let looked = parcel.maybe_since.is_some();
        match self.hand_over(codec, target, parcel, &path).await {
            // Who asked cannot know that it was looked for: what this says is of this hand-over.
            Err(failure) if looked && find::is_certain(failure.reason) => Ok(VendorBatch {
                state: VendorBatchState::Refused,
                refusal: Some(failure),
                ..VendorBatch::default()
            }),
            handed => handed,
        }
    }

    async fn get(&self, id: &str, timeout: Option<Duration>) -> Result<VendorBatch, Failure> {
        let codec = self.batch_codec()?;
        self.batch_of(codec, self.fetch(codec, codec.get(id), timeout).await?).await
    }

    async fn cancel(&self, id: &str, timeout: Option<Duration>) -> Result<VendorBatch, Failure> {
        let codec = self.batch_codec()?;
        let ask = self.ask(codec, Method::POST, codec.cancel(id));
        let refused = match self.exchange(ask, timeout).await {
            Ok(exchange) => exchange.into_answer().await.err(),
            Err(failure) => Some(failure),
        };
        // What the vendor answers to this says less than what it says of the batch.
        let batch = self.get(id, timeout).await?;
        match refused {
            Some(failure) if batch.state == VendorBatchState::Running => Err(failure),
            _ => Ok(batch),
        }
    }

    async fn results(&self, id: &str, json_tools: HashMap<String, String>) -> Result<ItemResults, Failure> {
        let codec = self.batch_codec()?;
        let (body, origin) = self.document(codec, self.fetch(codec, codec.get(id), None).await?).await?;
        let batch = codec.decode(&body).map_err(|failure| origin.sign(failure))?;
        if !matches!(batch.state, VendorBatchState::Ended | VendorBatchState::Refused) {
            return Err(Failure::invalid("vendor_batch_id", "this batch has not ended yet"));
        }
        let sources = codec.results(id, &body).map_err(|failure| origin.sign(failure))?;
        Ok(read::Results::new(self.clone(), codec, id, sources, json_tools).into_stream())
    }

    async fn delete_files(&self, id: &str, timeout: Option<Duration>) -> Result<u32, Failure> {
        self.delete_files_of(self.batch_codec()?, id, timeout).await
    }
}

impl HttpVendor {
    fn batch_codec(&self) -> Result<&'static dyn BatchCodec, Failure> {
        self.codec.batches().ok_or_else(|| self.no_batches("has no batch endpoint"))
    }

    fn no_batches(&self, what: &str) -> Failure {
        let message = format!("vendor `{}` {what}; call it as usual", self.name);
        Failure::new(ErrorReason::Unimplemented, message)
    }

    /// Hands a parcel over that the vendor does not have.
    async fn hand_over(
        &self,
        codec: &dyn BatchCodec,
        target: VendorTarget<'_>,
        parcel: Parcel,
        path: &str,
    ) -> Result<VendorBatch, Failure> {
        let mut items: Vec<Bytes> = parcel.items.into_iter().map(|item| Bytes::from(item.bytes)).collect();
        let file = match codec.upload() {
            Some(path) => {
                self.upload(codec, path, &parcel.key, mem::take(&mut items), target.timeout).await?
            }
            None => String::new(),
        };
        let new = NewBatch { key: &parcel.key, model: target.model, path, file: &file };
        let made = self.create(codec, new, items, target.timeout).await;
        // Nothing but the batch would ever read it.
        if made.as_ref().is_err_and(|failure| find::is_certain(failure.reason)) {
            self.delete_uploaded(codec, &file, target.timeout).await;
        }
        made
    }

    async fn create(
        &self,
        codec: &dyn BatchCodec,
        new: NewBatch<'_>,
        items: Vec<Bytes>,
        timeout: Option<Duration>,
    ) -> Result<VendorBatch, Failure> {
        let create = codec.create(new)?;
        let mut ask = Ask::from(create.call);
        ask.headers.extend(codec.headers());
        ask.body.extend(in_list(items));
        ask.body.push(Bytes::from_static(create.after.as_bytes()));
        self.batch_of(codec, self.transfer(ask, timeout).await?).await
    }

    /// A call without a body.
    fn ask(&self, codec: &dyn BatchCodec, method: Method, path: String) -> Ask {
        let content_type = HeaderValue::from_static("application/json");
        Ask { method, path, headers: codec.headers(), content_type, body: Vec::new() }
    }

    async fn fetch(
        &self,
        codec: &dyn BatchCodec,
        path: String,
        timeout: Option<Duration>,
    ) -> Result<Exchange, Failure> {
        self.exchange(self.ask(codec, Method::GET, path), timeout).await
    }

    /// Makes a call that moves a whole batch.
    async fn transfer(&self, ask: Ask, timeout: Option<Duration>) -> Result<Exchange, Failure> {
        let mut timeouts = self.timeouts;
        timeouts.total = timeouts.total.max(TRANSFER_TIME);
        self.exchange_within(ask, Limits::begin(timeouts, timeout)).await
    }

    async fn batch_of(&self, codec: &dyn BatchCodec, exchange: Exchange) -> Result<VendorBatch, Failure> {
        let (body, origin) = self.document(codec, exchange).await?;
        let mut batch = codec.decode(&body).map_err(|failure| origin.sign(failure))?;
        batch.refusal = batch.refusal.map(|failure| origin.sign(failure));
        Ok(batch)
    }

    /// Sends items as a file.
    async fn upload(
        &self,
        codec: &dyn BatchCodec,
        path: &str,
        key: &str,
        items: Vec<Bytes>,
        timeout: Option<Duration>,
    ) -> Result<String, Failure> {
        let form = upload::Form::of_lines(key, items);
        let ask = Ask {
            content_type: form.content_type(),
            body: form.into_pieces(),
            ..self.ask(codec, Method::POST, path.to_owned())
        };
        let (body, origin) = self.transfer(ask, timeout).await?.into_answer().await?;
        decode_upload(&self.name, body.as_slice()).map_err(|failure| origin.sign(failure))
    }
}

/// Where all items of a parcel would go alone.
fn one_path(parcel: &Parcel) -> Result<String, Failure> {
    let Some(first) = parcel.items.first() else {
        return Err(Failure::invalid("items", "is empty; at least one is needed"));
    };
    match parcel.items.iter().find(|item| item.path != first.path) {
        Some(other) => {
            let message = format!(
                "items `{}` and `{}` go to different endpoints: send them apart",
                first.key, other.key
            );
            Err(Failure::new(ErrorReason::Internal, message))
        }
        None => Ok(first.path.clone()),
    }
}

/// Items with commas between them.
fn in_list(items: Vec<Bytes>) -> impl Iterator<Item = Bytes> {
    let comma = |index: usize| Bytes::from_static(if index == 0 { b"" } else { b"," });
    items.into_iter().enumerate().flat_map(move |(index, item)| [comma(index), item])
}
