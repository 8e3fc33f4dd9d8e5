//! Batches and files of every vendor: how they are kept, how far they are, and how their items are answered.

mod batch;
mod item;
mod lines;
mod multipart;
mod page;
mod run;
mod shelf;
mod view;

pub(crate) use batch::{About, Batch, Draft, End, Phase, Plan, Trouble};
pub(crate) use item::{Answered, Item, ItemEnd};
pub(crate) use lines::{Line, read as read_lines};
pub(crate) use multipart::{field, parts};
pub(crate) use page::Page;
pub(crate) use run::settle;
pub(crate) use shelf::{Desk, NewFile, Shelf, StoredFile};
pub use view::{BatchState, ItemOutcome, SubmittedBatch, SubmittedItem};
