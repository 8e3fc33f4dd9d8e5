//! Handing a batch over. Each item is said in the vendor's words as it comes, so that only those are kept.

use super::{endpoint, key, no_batches, vendor_of, words};
use crate::{call, service::Dependencies};
use futures_util::{Stream, StreamExt as _};
use signalbox_api::{convert, status::to_status, v1};
use signalbox_ports::{
    VendorApi, VendorTarget,
    vendor_batch::{BatchAsk, BatchLimits, EncodedItem, Parcel, VendorBatches},
};
use signalbox_pricing::Day;
use signalbox_types::{Adjustment, Capabilities, Capability, ErrorReason, Failure, ModelFacts, ModelRef};
use std::{collections::HashSet, sync::Arc, time::SystemTime};
use tonic::Status;
use v1::vendor_batch_item::Request as Wire;

/// Reads a parcel from the wire and hands it over.
pub(crate) async fn submit(
    dependencies: &Dependencies,
    mut pieces: impl Stream<Item = Result<v1::SubmitVendorBatchRequest, Status>> + Unpin,
) -> Result<v1::SubmitVendorBatchResponse, Status> {
    let refuse = |failure: Failure| to_status(&failure);
    let Some(first) = pieces.next().await.transpose()? else {
        return Err(refuse(Failure::invalid("items", "is empty; at least one is needed")));
    };
    let mut packing = Packing::begin(dependencies, &first).map_err(refuse)?;
    packing.add(first.items).map_err(refuse)?;
    while let Some(piece) = pieces.next().await.transpose()? {
        packing.check_further(&piece).map_err(refuse)?;
        packing.add(piece.items).map_err(refuse)?;
    }
    packing.hand_over().await.map_err(refuse)
}

/// A parcel being packed.
struct Packing {
    vendor: Arc<dyn VendorApi>,
    model: ModelRef,
    facts: ModelFacts,
    parcel: Parcel,
    notes: Vec<v1::VendorBatchItemNote>,
    keys: HashSet<String>,
    /// What the first item asks for; all others ask for the same.
    wanted: Option<Capability>,
    weight: usize,
    bytes: usize,
}

impl Packing {
    fn begin(dependencies: &Dependencies, first: &v1::SubmitVendorBatchRequest) -> Result<Self, Failure> {
        let (vendor, model) = vendor_of(dependencies, first.target.clone())?;
        let catalog = dependencies.config.catalog();
        let facts = catalog.require(&model, Day::of(dependencies.clock.now()))?.facts.clone();
        if !facts.capabilities.has(Capability::Batch) {
            return Err(no_batches(format!("{model} takes no batches; call it as usual")));
        }
        endpoint(&*vendor)?;
        key::check(&first.batch_key, || "batch_key".to_owned())?;
        let maybe_since = first.maybe_since_time.map(SystemTime::try_from).transpose();
        let maybe_since =
            maybe_since.map_err(|_| Failure::invalid("maybe_since_time", "is not a point in time"))?;
        Ok(Self {
            vendor,
            model,
            facts,
            parcel: Parcel { key: first.batch_key.clone(), maybe_since, items: Vec::new() },
            notes: Vec::new(),
            keys: HashSet::new(),
            wanted: None,
            weight: 0,
            bytes: 0,
        })
    }

    fn check_further(&self, piece: &v1::SubmitVendorBatchRequest) -> Result<(), Failure> {
        let again = if piece.target.is_some() {
            "target"
        } else if !piece.batch_key.is_empty() {
            "batch_key"
        } else if piece.maybe_since_time.is_some() {
            "maybe_since_time"
        } else {
            return Ok(());
        };
        Err(Failure::invalid(again, "belongs into the first message only"))
    }

    fn add(&mut self, items: Vec<v1::VendorBatchItem>) -> Result<(), Failure> {
        items.into_iter().try_for_each(|item| self.add_one(item))
    }

    fn add_one(&mut self, item: v1::VendorBatchItem) -> Result<(), Failure> {
        let position = self.keys.len();
        let field = |name: &str| format!("items[{position}].{name}");
        key::check(&item.item_key, || field("item_key"))?;
        if !self.keys.insert(item.item_key.clone()) {
            return Err(Failure::invalid(field("item_key"), format!("`{}` is there twice", item.item_key)));
        }
        let request = item.request.ok_or_else(|| Failure::invalid(field("request"), "is missing"))?;
        self.check_kind(&request, || field("request"))?;
        match self.encode(&item.item_key, request) {
            Ok(encoded) => self.pack(encoded),
            Err(failure) if failure.reason == ErrorReason::Unimplemented => Err(failure),
            Err(failure) => {
                let rejection = Some(words::failed(failure));
                let note =
                    v1::VendorBatchItemNote { item_key: item.item_key, rejection, ..Default::default() };
                self.notes.push(note);
                Ok(())
            }
        }
    }

    fn check_kind(&mut self, request: &Wire, field: impl FnOnce() -> String) -> Result<(), Failure> {
        let wanted = match request {
            Wire::Generate(_) => Capability::Text,
            Wire::Embed(_) => Capability::Embeddings,
        };
        if *self.wanted.get_or_insert(wanted) != wanted {
            return Err(Failure::invalid(field(), "is not of the same kind as those before"));
        }
        let missing = Capabilities::NONE.with(wanted).without(self.facts.capabilities);
        if missing == Capabilities::NONE {
            return Ok(());
        }
        let message = format!("{} lacks {}", self.model, wanted.name());
        Err(Failure::new(ErrorReason::NoCapableModel, message))
    }

    fn encode(&self, key: &str, request: Wire) -> Result<EncodedItem, Failure> {
        let batches = endpoint(&*self.vendor)?;
        match request {
            Wire::Generate(request) => {
                let mut request = convert::generate_request_from_proto(request)?;
                let lowered = call::bound_answer(&mut request.prompt, &self.facts);
                let mut item = batches.encode(self.target(), key, BatchAsk::Generate(&request.prompt))?;
                item.adjustments.splice(0..0, lowered);
                Ok(item)
            }
            Wire::Embed(request) => {
                let request = convert::embed_request_from_proto(request)?;
                batches.encode(self.target(), key, BatchAsk::Embed(&request))
            }
        }
    }

    /// Takes an item in, as long as the vendor takes that many.
    fn pack(&mut self, mut item: EncodedItem) -> Result<(), Failure> {
        self.weight += item.weight;
        self.bytes += item.bytes.len();
        let limits = endpoint(&*self.vendor)?.limits();
        if self.weight > limits.items || self.bytes > limits.bytes {
            return Err(too_large(&self.model, limits));
        }
        let adjustments: Vec<Adjustment> = std::mem::take(&mut item.adjustments);
        if !adjustments.is_empty() || item.json_tool.is_some() {
            self.notes.push(v1::VendorBatchItemNote {
                item_key: item.key.clone(),
                rejection: None,
                adjustments: convert::adjustments_to_proto(adjustments),
                json_tool: item.json_tool.clone().unwrap_or_default(),
            });
        }
        self.parcel.items.push(item);
        Ok(())
    }

    async fn hand_over(self) -> Result<v1::SubmitVendorBatchResponse, Failure> {
        if self.keys.is_empty() {
            return Err(Failure::invalid("items", "is empty; at least one is needed"));
        }
        if self.parcel.items.is_empty() {
            return Ok(v1::SubmitVendorBatchResponse { batch: None, notes: self.notes });
        }
        let target = VendorTarget { model: &self.model.model, facts: &self.facts, timeout: None };
        let batches: &dyn VendorBatches = endpoint(&*self.vendor)?;
        let batch = batches.submit(target, self.parcel).await?;
        let batch = words::batch(batch, self.vendor.simulated());
        Ok(v1::SubmitVendorBatchResponse { batch: Some(batch), notes: self.notes })
    }

    fn target(&self) -> VendorTarget<'_> {
        VendorTarget { model: &self.model.model, facts: &self.facts, timeout: None }
    }
}

fn too_large(model: &ModelRef, BatchLimits { items, bytes }: BatchLimits) -> Failure {
    let message = format!("a batch for {model} holds at most {items} items and {bytes} bytes; send several");
    Failure::new(ErrorReason::RequestTooLarge, message)
}
