//! `signalbox usage dead-letters` and `replay`: events that could not be stored.

use super::{Client, failed};
use crate::commands::{CommandError, pages, print, show, when};
use signalbox_api::{json, v1};
use std::collections::BTreeSet;
use v1::dead_letter::Reason;

/// Which letters.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct LettersArgs {
    #[command(subcommand)]
    action: Option<LettersAction>,
    /// Only these: malformed, future-version, unknown-enum, invalid-value or store-refused
    #[arg(long, value_parser = reason)]
    reason: Option<Reason>,
}

#[derive(Debug, clap::Subcommand)]
enum LettersAction {
    /// Remove such events for good: what they tell is never counted
    Discard(ChosenArgs),
}

/// Which letters to do something with.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct ChosenArgs {
    /// Their numbers, as `dead-letters` shows them
    #[arg(value_name = "NUMBER")]
    sequences: Vec<u64>,
    /// All with this reason
    #[arg(long, value_parser = reason)]
    reason: Option<Reason>,
}

impl ChosenArgs {
    fn reason(&self) -> i32 {
        self.reason.unwrap_or(Reason::Unspecified) as i32
    }

    /// What was done to so many of them; an error where others were meant, too.
    fn told(&self, count: u64, what: &str) -> Result<(), CommandError> {
        let named: BTreeSet<u64> = self.sequences.iter().copied().collect();
        let missing = (named.len() as u64).saturating_sub(count);
        if missing > 0 {
            let message = format!("{count} {what}; no dead letter has the other {missing} of these numbers");
            return Err(CommandError::new(message));
        }
        print(&format!("{count} {what}"))
    }
}

fn reason(text: &str) -> Result<Reason, String> {
    Reason::from_str_name(&format!("REASON_{}", text.to_uppercase().replace('-', "_")))
        .filter(|reason| *reason != Reason::Unspecified)
        .ok_or_else(|| {
            "there are malformed, future-version, unknown-enum, invalid-value and store-refused".to_owned()
        })
}

/// Lists them, or does what else was asked.
pub(super) async fn run(client: Client, args: LettersArgs, as_json: bool) -> Result<(), CommandError> {
    match args.action {
        None => list(client, args.reason, as_json).await,
        Some(LettersAction::Discard(chosen)) => discard(client, chosen).await,
    }
}

/// Asks, page by page, and prints.
async fn list(mut client: Client, reason: Option<Reason>, as_json: bool) -> Result<(), CommandError> {
    let reason = reason.unwrap_or(Reason::Unspecified) as i32;
    let dead_letters = pages::all(async |page_size, page_token| {
        let request = v1::ListDeadLettersRequest { reason, page_size, page_token };
        let page = client.list_dead_letters(request).await.map_err(failed)?.into_inner();
        Ok((page.dead_letters, page.next_page_token))
    });
    let found =
        v1::ListDeadLettersResponse { dead_letters: dead_letters.await?, next_page_token: String::new() };
    print(&if as_json { json::to_json(&found)? } else { table(&found.dead_letters) })
}

fn table(letters: &[v1::DeadLetter]) -> String {
    if letters.is_empty() {
        return "no dead letter".to_owned();
    }
    let mut rows =
        vec![["NUMBER", "SET ASIDE (UTC)", "REASON", "EVENT", "TENANT", "WHAT"].map(str::to_owned).to_vec()];
    rows.extend(letters.iter().map(|letter| {
        vec![
            letter.sequence.to_string(),
            when::shown(letter.create_time.as_ref()),
            show::word(letter.reason().as_str_name(), "REASON_"),
            letter.event_id.clone(),
            letter.tenant_id.clone(),
            letter.detail.clone(),
        ]
    }));
    show::table(&rows, &[0]).join("\n")
}

/// Puts letters on the bus again.
pub(super) async fn replay(mut client: Client, args: ChosenArgs) -> Result<(), CommandError> {
    let request = v1::ReplayDeadLettersRequest { sequences: args.sequences.clone(), reason: args.reason() };
    let answer = client.replay_dead_letters(request).await.map_err(failed)?.into_inner();
    args.told(answer.replayed, "put on the bus again; those that fail again come back")
}

async fn discard(mut client: Client, args: ChosenArgs) -> Result<(), CommandError> {
    let request = v1::DiscardDeadLettersRequest { sequences: args.sequences.clone(), reason: args.reason() };
    let answer = client.discard_dead_letters(request).await.map_err(failed)?.into_inner();
    args.told(answer.discarded, "discarded")
}
