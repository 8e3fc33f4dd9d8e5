//! Results, read one by one: of a file or a document, no more than an item is ever held.

use super::super::{
    client::HttpVendor,
    exchange::{Exchange, Origin},
};
use crate::batch::{BatchCodec, ElementFrames, JsonTools, ResultSource};
use crate::framing::NdjsonFrames;
use futures_util::{StreamExt as _, stream};
use signalbox_ports::vendor_batch::{ItemOutcome, ItemResult, ItemResults};
use signalbox_types::{ErrorReason, Failure};
use std::collections::VecDeque;

/// Pages of results that are read at most.
const MOST_PAGES: usize = 10_000;

impl HttpVendor {
    /// The body of an answer that tells of batches, without the results that may stand there.
    pub(super) async fn document(
        &self,
        codec: &dyn BatchCodec,
        mut exchange: Exchange,
    ) -> Result<(Vec<u8>, Origin), Failure> {
        let Some(bulk) = codec.bulk() else {
            let (body, origin) = exchange.into_answer().await?;
            return Ok((body.as_slice().to_vec(), origin));
        };
        let (mut frames, mut size) = (ElementFrames::new(bulk), 0);
        while let Some(piece) = exchange.next_piece(size).await? {
            size += piece.len();
            frames.push(&piece).map_err(|failure| exchange.origin.sign(failure))?;
            while frames.next_element().is_some() {}
        }
        let origin = exchange.origin;
        frames.into_rest().map_err(|failure| origin.sign(failure)).map(|rest| (rest, origin))
    }
}

/// The results of a batch, from all of its sources.
pub(super) struct Results {
    vendor: HttpVendor,
    codec: &'static dyn BatchCodec,
    id: String,
    sources: VecDeque<ResultSource>,
    tools: JsonTools,
    open: Option<Open>,
    pages: usize,
}

/// A source that is being read.
struct Open {
    exchange: Exchange,
    size: usize,
    frames: Frames,
    ended: bool,
}

enum Frames {
    Lines(NdjsonFrames),
    Elements(ElementFrames),
}

impl Results {
    pub(super) fn new(
        vendor: HttpVendor,
        codec: &'static dyn BatchCodec,
        id: &str,
        sources: Vec<ResultSource>,
        tools: JsonTools,
    ) -> Self {
        let (id, sources) = (id.to_owned(), sources.into());
        Self { vendor, codec, id, sources, tools, open: None, pages: 0 }
    }

    /// As a stream, which ends after a failure.
    pub(super) fn into_stream(self) -> ItemResults {
        stream::unfold(Some(self), |results| async {
            let mut results = results?;
            match results.next().await {
                Ok(Some(result)) => Some((Ok(result), Some(results))),
                Ok(None) => None,
                Err(failure) => Some((Err(failure), None)),
            }
        })
        .boxed()
    }

    async fn next(&mut self) -> Result<Option<ItemResult>, Failure> {
        loop {
            let Some(mut open) = self.open.take() else {
                let Some(source) = self.sources.pop_front() else { return Ok(None) };
                self.open = Some(self.open(source).await?);
                continue;
            };
            match open.next().await? {
                Some(frame) => {
                    let result = self.codec.decode_result(&frame, &self.tools);
                    let result = result.map(|result| signed(result, &open.exchange.origin));
                    self.open = Some(open);
                    match result {
                        Ok(result) => return Ok(Some(result)),
                        Err(failure) => self.warn(&failure),
                    }
                }
                None => self.turn(open)?,
            }
        }
    }

    /// A result of which nobody can tell whose it is must not keep the others from being read.
    fn warn(&self, failure: &Failure) {
        let (vendor, batch) = (&*self.vendor.name, &self.id);
        tracing::warn!(vendor, batch, message = failure.message, "a result of a batch cannot be read");
    }

    async fn open(&mut self, source: ResultSource) -> Result<Open, Failure> {
        let (path, frames) = match source {
            ResultSource::Lines(path) => (path, Frames::Lines(NdjsonFrames::default())),
            ResultSource::Elements(path, key) => (path, Frames::Elements(ElementFrames::new(key))),
        };
        let ask = self.vendor.ask(self.codec, reqwest::Method::GET, path);
        let mut exchange = self.vendor.transfer(ask, None).await?;
        // A file that is read slowly must not keep others from being answered.
        exchange.leave_place();
        Ok(Open { exchange, size: 0, frames, ended: false })
    }

    /// A source was read to its end: perhaps it says where the next page is.
    fn turn(&mut self, open: Open) -> Result<(), Failure> {
        let Frames::Elements(frames) = open.frames else { return Ok(()) };
        let sign = |failure| open.exchange.origin.sign(failure);
        let key = frames.key();
        let page = frames.into_rest().map_err(sign)?;
        if let Some(path) = self.codec.next_page(&self.id, &page).map_err(sign)? {
            self.pages += 1;
            if self.pages > MOST_PAGES {
                let what = "its results have no end";
                return Err(open.exchange.origin.failure(ErrorReason::VendorBadResponse, what));
            }
            self.sources.push_front(ResultSource::Elements(path, key));
        }
        Ok(())
    }
}

impl Open {
    /// The next line or element.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            if let Some(frame) = self.whole()? {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(None);
            }
            match self.exchange.next_piece(self.size).await? {
                Some(piece) => {
                    self.size += piece.len();
                    self.push(&piece)?;
                }
                None => {
                    self.ended = true;
                    // The last line may come without its end.
                    if let Frames::Lines(_) = self.frames {
                        self.push(b"\n")?;
                    }
                }
            }
        }
    }

    fn whole(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        match &mut self.frames {
            Frames::Lines(lines) => {
                let line = lines.next_line().map(|line| line.map(|line| line.as_bytes().to_vec()));
                line.map_err(|failure| self.exchange.origin.sign(failure))
            }
            Frames::Elements(elements) => Ok(elements.next_element()),
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.frames {
            Frames::Lines(lines) => lines.push(bytes),
            Frames::Elements(elements) => {
                elements.push(bytes).map_err(|failure| self.exchange.origin.sign(failure))?;
            }
        }
        Ok(())
    }
}

/// A result rid of our key. What the head of the file's answer told is not of this item.
fn signed(mut result: ItemResult, origin: &Origin) -> ItemResult {
    let secrets = &origin.secrets;
    secrets.mask(&mut result.request_id);
    match &mut result.outcome {
        ItemOutcome::Answer(answer) => secrets.mask_answer(answer),
        ItemOutcome::Vectors(vectors) => secrets.mask(&mut vectors.model),
        ItemOutcome::Failed(failure) => secrets.mask_failure(failure),
        ItemOutcome::Cancelled | ItemOutcome::Expired => {}
    }
    result
}
