//! What the translation for a vendor's batch endpoint must do. Pure, as [`Codec`](crate::Codec) is: an item's body is
//! what a call made alone would have, and its result is read as that call's answer would be.

mod elements;

pub use elements::ElementFrames;

use crate::codec::EncodedCall;
use crate::json;
use serde_json::value::RawValue;
use signalbox_ports::vendor_batch::{BatchLimits, ItemResult, VendorBatch};
use signalbox_types::{Failure, ModelFacts};
use std::{borrow::Cow, collections::HashMap, time::SystemTime};

/// A batch that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewBatch<'a> {
    /// Its name, where the vendor keeps one.
    pub key: &'a str,
    /// The vendor's own model id.
    pub model: &'a str,
    /// Where each of its requests would go alone.
    pub path: &'a str,
    /// The file that holds its items, for vendors that want one.
    pub file: &'a str,
}

/// The call that makes a batch. Without a file, the items stand between its body and what comes after, and commas
/// between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewBatchCall {
    /// The call.
    pub call: EncodedCall,
    /// What comes after the items.
    pub after: &'static str,
}

/// A page of the vendor's list of batches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchPage {
    /// Batches with the names that they were given.
    pub batches: Vec<(Option<String>, VendorBatch)>,
    /// What to ask for the next page with; `None` at the end.
    pub next: Option<String>,
}

/// How a vendor keeps the name of a batch, and lists batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// It keeps the name that we give.
    pub named: bool,
    /// Its list begins with the newest.
    pub newest_first: bool,
}

/// Where results are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultSource {
    /// In a file, one in each line.
    Lines(String),
    /// In the array of this name within a document; there may be [more pages](BatchCodec::next_page).
    Elements(String, &'static str),
}

/// The tools in whose arguments answers come, by item.
pub type JsonTools = HashMap<String, String>;

/// The wire format of one vendor's batch endpoint. Paths are below the vendor's base URL.
pub trait BatchCodec: Send + Sync + std::fmt::Debug {
    /// Most that one batch may hold.
    fn limits(&self) -> BatchLimits;

    /// Whether vectors are taken.
    fn embeds(&self) -> bool {
        false
    }

    /// The model as it is to be spoken to in a batch.
    fn facts<'a>(&self, facts: &'a ModelFacts) -> Cow<'a, ModelFacts> {
        Cow::Borrowed(facts)
    }

    /// A call as an item: a line of a file where there is one.
    fn item(&self, key: &str, call: &EncodedCall) -> Result<Vec<u8>, Failure>;

    /// Headers of every call.
    fn headers(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Where items are sent as a file first; `None` where they stand in the call itself.
    fn upload(&self) -> Option<&'static str> {
        None
    }

    /// The call that makes a batch.
    fn create(&self, new: NewBatch<'_>) -> Result<NewBatchCall, Failure>;

    /// Reads a batch.
    fn decode(&self, body: &[u8]) -> Result<VendorBatch, Failure>;

    /// The array within a batch that holds results, if they are there: it is not read for the batch.
    fn bulk(&self) -> Option<&'static str> {
        None
    }

    /// How batches are found again.
    fn finding(&self) -> Finding;

    /// Where batches are listed.
    fn list(&self, after: Option<&str>) -> String;

    /// Reads a page of the list.
    fn decode_list(&self, body: &[u8]) -> Result<BatchPage, Failure>;

    /// Where a batch is.
    fn get(&self, id: &str) -> String;

    /// Where a batch is stopped.
    fn cancel(&self, id: &str) -> String;

    /// Where the results of a batch are, by what it says of itself.
    fn results(&self, id: &str, body: &[u8]) -> Result<Vec<ResultSource>, Failure>;

    /// Whether batches leave files that can be deleted.
    fn keeps_files(&self) -> bool {
        false
    }

    /// Where a file is, by its id.
    fn file(&self, id: &str) -> String {
        format!("/v1/files/{}", crate::urls::in_url(id))
    }

    /// Where the files of a batch are, by what it says of itself.
    fn files(&self, _body: &[u8]) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    /// Where the next page of results is, by the page without its results.
    fn next_page(&self, _id: &str, _page: &[u8]) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Reads a result. `Err` where it cannot be told whose it is: that one is passed over.
    fn decode_result(&self, result: &[u8], tools: &JsonTools) -> Result<ItemResult, Failure>;
}

/// Reads the id of a file that was uploaded.
pub(crate) fn decode_upload(vendor: &str, body: &[u8]) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct File {
        id: String,
    }
    json::read::<File>(vendor, body).map(|file| file.id)
}

/// The body of a call on one line: schemas of callers may hold line breaks.
pub(crate) fn one_line(call: &EncodedCall) -> Result<Box<RawValue>, Failure> {
    let raw = json::read::<&RawValue>("signalbox", &call.body)?;
    RawValue::from_string(json::compact(raw)).map_err(|error| json::unreadable("signalbox", error))
}

/// A path, and a query where there is something to ask.
pub(crate) fn page(path: &str, cursor: &str, after: Option<&str>) -> String {
    match after {
        Some(after) => format!("{path}&{cursor}={}", crate::urls::in_url(after)),
        None => path.to_owned(),
    }
}

/// A point in time as vendors write it; a bare day is its beginning.
pub(crate) fn time(text: &str) -> Option<SystemTime> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.into());
    }
    let day = text.parse::<jiff::civil::Date>().ok()?;
    day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|time| time.timestamp().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn times_are_read_with_and_without_an_hour() {
        let at = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(time("2026-11-29T08:00:00.000000+00:00"), at(1_795_939_200));
        assert_eq!(time("2026-11-29T08:00:00.000000Z"), at(1_795_939_200));
        assert_eq!(time("2026-11-29"), at(1_795_910_400));
        assert_eq!(time("yesterday"), None);
    }

    #[test]
    fn an_item_is_one_line_however_its_schema_was_written() {
        let body = b"{\"schema\": {\n  \"a\": \"x\\n y\" }}".to_vec();
        let line = one_line(&EncodedCall { body, ..EncodedCall::default() }).unwrap();
        assert_eq!(line.get(), r#"{"schema":{"a":"x\n y"}}"#);
    }
}
