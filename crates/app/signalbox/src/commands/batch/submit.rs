//! `signalbox batch submit`: a job from a file.

use super::{Client, failed};
use crate::commands::{CommandError, read_text, when};
use futures_util::stream;
use jiff::{SignedDuration, Span};
use prost::Message as _;
use signalbox_api::{json, v1};

const HELP: &str = r#"The file has a BatchItem as JSON on each line, as in
{"itemId": "a1", "generate": {"model": "fast", "messages": [{"role": "ROLE_USER", "content": [{"text": "Hello"}]}]}}
{"itemId": "a2", "embed": {"inputs": ["Hello"]}}
An item without an id is called after its line, as in `line-3`. The job is taken whole or not at all. With an id of your own
it can be handed in again when you do not know whether it was taken: it is there once."#;

/// Bytes of items that travel in one message.
const PIECE_BYTES: usize = 1 << 20;

/// What to hand in.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct SubmitArgs {
    /// File with an item on each line; `-` for standard input
    file: String,
    /// Whose; the key's own where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
    /// The job's id; made up where left out
    #[arg(long, value_name = "ID", default_value = "")]
    id: String,
    /// Part of your application that asks, for items that name none
    #[arg(long, value_name = "NAME", default_value = "")]
    scene: String,
    /// The article or job this is for, for items that name none
    #[arg(long, value_name = "TEXT", default_value = "")]
    reference: String,
    /// How long it may take, as in `90s`, `1h30m` or `3d`; what is not done by then is given up
    #[arg(long, value_name = "TIME", value_parser = when::span)]
    within: Option<Span>,
}

impl SubmitArgs {
    /// The messages to send: the settings go with the first.
    pub(super) fn pieces(self) -> Result<Vec<v1::SubmitBatchJobRequest>, CommandError> {
        let items = items(&read_text(&self.file)?)?;
        if items.is_empty() {
            return Err(CommandError::new(format!("{} has no item", self.file)));
        }
        let mut pieces = pieces(items);
        if let Some(first) = pieces.first_mut() {
            first.job = Some(self.job());
        }
        Ok(pieces)
    }

    fn job(self) -> v1::BatchJob {
        let within = self.within.and_then(|within| SignedDuration::try_from(within).ok());
        v1::BatchJob {
            job_id: self.id,
            tenant_id: self.tenant,
            scene: self.scene,
            reference: self.reference,
            completion_window: within
                .map(|within| prost_types::Duration { seconds: within.as_secs(), nanos: 0 }),
            ..v1::BatchJob::default()
        }
    }
}

/// One on each line that is not empty.
pub(super) fn items(text: &str) -> Result<Vec<v1::BatchItem>, CommandError> {
    // Some editors begin a file with a mark that is no part of it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let read = lines.map(|(line, number): (&str, usize)| {
        let mut item: v1::BatchItem = json::from_json(line).map_err(|error| {
            let error = error.to_string().replace(" at line 1 column ", " at column ");
            CommandError::new(format!("line {number} is not a BatchItem as JSON: {error}"))
        })?;
        if item.item_id.is_empty() {
            item.item_id = format!("line-{number}");
        }
        Ok(item)
    });
    read.collect()
}

/// Items in messages of a size that every server takes, unless one is larger by itself.
pub(super) fn pieces(items: Vec<v1::BatchItem>) -> Vec<v1::SubmitBatchJobRequest> {
    let mut pieces: Vec<v1::SubmitBatchJobRequest> = Vec::new();
    let mut room = 0;
    for item in items {
        let size = item.encoded_len();
        match pieces.last_mut() {
            Some(piece) if size <= room => piece.items.push(item),
            _ => {
                pieces.push(v1::SubmitBatchJobRequest { job: None, items: vec![item] });
                room = PIECE_BYTES;
            }
        }
        room = room.saturating_sub(size);
    }
    pieces
}

pub(super) async fn hand_in(
    client: &mut Client,
    pieces: Vec<v1::SubmitBatchJobRequest>,
) -> Result<v1::BatchJob, CommandError> {
    let answer = client.submit_batch_job(stream::iter(pieces)).await.map_err(failed)?;
    Ok(answer.into_inner().job.unwrap_or_default())
}
