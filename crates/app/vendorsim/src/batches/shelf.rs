//! Where batches and files are kept: in memory, and not more than a limit.

use super::batch::{Batch, Draft, Phase};
use super::item::{Item, ItemEnd};
use super::view::SubmittedBatch;
use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::seed::Seed;
use crate::vendor::Vendor;
use crate::vendors;
use bytes::Bytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Most batches, most files, and most bytes of both. Of what is over, the oldest that has ended goes first.
const KEEP_BATCHES: usize = 1_000;
const KEEP_FILES: usize = 3_000;
const KEEP_BYTES: usize = 1 << 30;

/// A file.
#[derive(Debug, Clone)]
pub(crate) struct StoredFile {
    pub(crate) id: String,
    pub(crate) vendor: Vendor,
    pub(crate) created: SystemTime,
    pub(crate) new: NewFile,
}

/// A file that is about to be kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewFile {
    pub(crate) name: String,
    pub(crate) purpose: String,
    pub(crate) content_type: String,
    pub(crate) content: Bytes,
    /// How many bytes will have come once it is whole.
    pub(crate) promised: Option<usize>,
}

/// Everything that is kept.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) batches: Vec<Batch>,
    pub(crate) files: Vec<StoredFile>,
    /// How long a batch takes.
    pub(crate) usual: Duration,
    /// Batches and items handed over, kept or not.
    pub(crate) handed_over: [(u64, u64); Vendor::ALL.len()],
    numbers: usize,
}

/// The shelf, shared.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<Shelf>);

impl Desk {
    /// A desk whose batches take so long.
    pub(crate) fn new(usual: Duration) -> Self {
        Self(Mutex::new(Shelf { usual, ..Shelf::default() }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    /// Takes a batch.
    pub(crate) fn take(&mut self, call: &Call<'_>, draft: Draft) -> Result<&mut Batch, Problem> {
        self.make_room(draft.items.iter().map(|item| item.body.len()).sum())?;
        self.count(draft.vendor, 1, draft.items.len());
        let id = self.id(call.seed, draft.prefix);
        self.batches.push(Batch::new(id, draft, call, self.usual));
        self.batches.last_mut().ok_or_else(|| Problem::new(Kind::Internal))
    }

    /// Takes more items for a batch.
    pub(crate) fn add(&mut self, vendor: Vendor, id: &str, items: Vec<Item>) -> Option<()> {
        self.count(vendor, 0, items.len());
        self.batch(vendor, id)?.extend(items);
        Some(())
    }

    fn count(&mut self, vendor: Vendor, batches: usize, items: usize) {
        if let Some((all_batches, all_items)) = self.handed_over.get_mut(vendor as usize) {
            *all_batches += batches as u64;
            *all_items += items as u64;
        }
    }

    /// A batch.
    pub(crate) fn batch(&mut self, vendor: Vendor, id: &str) -> Option<&mut Batch> {
        self.batches.iter_mut().find(|batch| batch.vendor == vendor && batch.id == id)
    }

    /// The batches of a vendor, newest first.
    pub(crate) fn newest(&self, vendor: Vendor) -> Vec<&Batch> {
        self.batches.iter().rev().filter(|batch| batch.vendor == vendor).collect()
    }

    /// Keeps a file.
    pub(crate) fn keep(
        &mut self,
        call: &Call<'_>,
        vendor: Vendor,
        prefix: &str,
        new: NewFile,
    ) -> Result<&StoredFile, Problem> {
        self.make_room(new.content.len())?;
        let id = self.id(call.seed, prefix);
        self.files.push(StoredFile { id, vendor, created: call.now, new });
        self.files.last().ok_or_else(|| Problem::new(Kind::Internal))
    }

    /// A file.
    pub(crate) fn file(&self, vendor: Vendor, id: &str) -> Option<&StoredFile> {
        self.files.iter().find(|file| file.vendor == vendor && file.id == id)
    }

    /// How many files of a vendor there are.
    pub(crate) fn files_of(&self, vendor: Vendor) -> usize {
        self.files.iter().filter(|file| file.vendor == vendor).count()
    }

    /// Throws a file away; whether there was one.
    pub(crate) fn remove_file(&mut self, vendor: Vendor, id: &str) -> bool {
        let before = self.files.len();
        self.files.retain(|file| file.vendor != vendor || file.id != id);
        self.files.len() < before
    }

    /// Brings the batches of a vendor a bit further. Whether there is more to do at once.
    pub(crate) fn step(
        &mut self,
        vendor: Vendor,
        now: SystemTime,
        answer: impl Fn(&Batch, &Item) -> ItemEnd,
    ) -> bool {
        let mut more = false;
        let mut files = Vec::new();
        let open = self.batches.iter_mut().filter(|batch| batch.vendor == vendor && batch.end().is_none());
        for batch in open {
            more |= batch.step(now, &answer);
            if matches!(batch.phase, Phase::Ended(_)) {
                files.extend(vendors::files_of(batch));
            }
        }
        let kept = |(id, new)| StoredFile { id, vendor, created: now, new };
        self.files.extend(files.into_iter().map(kept));
        more
    }

    /// Lets batches go that are held: all, or one. How many.
    pub(crate) fn release(&mut self, id: Option<&str>) -> usize {
        let held = self.batches.iter_mut().filter(|batch| batch.is_held());
        held.filter(|batch| id.is_none_or(|id| batch.id == id)).map(Batch::release).count()
    }

    /// All batches, oldest first.
    pub(crate) fn submitted(&self) -> Vec<SubmittedBatch> {
        self.batches.iter().map(SubmittedBatch::of).collect()
    }

    /// Forgets everything but how long a batch takes.
    pub(crate) fn clear(&mut self) {
        *self = Self { usual: self.usual, numbers: self.numbers, ..Self::default() };
    }

    /// An id that nothing else has.
    fn id(&mut self, seed: Seed, prefix: &str) -> String {
        self.numbers += 1;
        seed.id(prefix, self.numbers)
    }

    fn make_room(&mut self, coming: usize) -> Result<(), Problem> {
        let fits = |shelf: &Self| {
            shelf.batches.len() < KEEP_BATCHES
                && shelf.files.len() < KEEP_FILES
                && shelf.weight() + coming <= KEEP_BYTES
        };
        while !fits(self) {
            if let Some(oldest) = self.batches.iter().position(|batch| batch.end().is_some()) {
                let gone = self.batches.remove(oldest).about;
                let its = [gone.input_file, gone.output_file, gone.error_file];
                self.files.retain(|file| !its.iter().flatten().any(|id| *id == file.id));
            } else if self.files.is_empty() {
                return Err(Problem::new(Kind::Rate));
            } else {
                self.files.remove(0);
            }
        }
        Ok(())
    }

    fn weight(&self) -> usize {
        let files: usize = self.files.iter().map(|file| file.new.content.len()).sum();
        files + self.batches.iter().map(Batch::weight).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::{About, Plan};
    use super::*;
    use http::{HeaderMap, Method};
    use std::time::UNIX_EPOCH;

    fn take(shelf: &mut Shelf, bytes: usize) -> Result<String, Problem> {
        let (headers, raw) = (HeaderMap::new(), Bytes::new());
        let call = Call {
            method: &Method::POST,
            path: "",
            query: "",
            headers: &headers,
            body: Err(String::new()),
            raw: &raw,
            model: String::new(),
            seed: Seed::default(),
            quirks: Default::default(),
            now: UNIX_EPOCH,
            in_batch: false,
        };
        let mut item = Item::new("a", "m", "/", &serde_json::Value::Null);
        item.body = Bytes::from(vec![0; bytes]);
        let (about, items, plan) = (About::default(), vec![item], Plan::default());
        let draft = Draft { vendor: Vendor::Xai, prefix: "b", about, items, troubles: Vec::new(), plan };
        shelf.take(&call, draft).map(|batch| batch.id.clone())
    }

    #[tokio::test]
    async fn the_oldest_batch_that_has_ended_makes_room_and_open_ones_stay() {
        let mut shelf = Shelf::default();
        let ids: Vec<String> = (0..KEEP_BATCHES).map(|_| take(&mut shelf, 1).unwrap()).collect();
        assert!(take(&mut shelf, 1).is_err(), "all are open");
        shelf.step(Vendor::Xai, UNIX_EPOCH, |_, _| ItemEnd::Expired);
        take(&mut shelf, 1).unwrap();
        assert!(shelf.batch(Vendor::Xai, &ids[0]).is_none());
        assert!(shelf.batch(Vendor::Xai, &ids[1]).is_some());
        assert_eq!(shelf.handed_over[Vendor::Xai as usize], (1001, 1001));
    }
}
