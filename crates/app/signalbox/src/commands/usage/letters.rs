//! `signalbox usage dead-letters` and `replay`: events that could not be stored.

use super::{Client, failed};
use crate::commands::{CommandError, print, show, when};
use signalbox_api::{json, v1};
use v1::dead_letter::Reason;

/// Which letters.
#[derive(Debug, clap::Args)]
pub(super) struct LettersArgs {
    /// Only these: malformed, future-version, unknown-enum, invalid-value or store-refused
    #[arg(long, value_parser = reason)]
    reason: Option<Reason>,
}

/// Which letters to put on the bus again.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct ReplayArgs {
    /// Their numbers, as `dead-letters` shows them
    #[arg(value_name = "NUMBER")]
    sequences: Vec<u64>,
    /// All with this reason
    #[arg(long, value_parser = reason)]
    reason: Option<Reason>,
}

fn reason(text: &str) -> Result<Reason, String> {
    Reason::from_str_name(&format!("REASON_{}", text.to_uppercase().replace('-', "_")))
        .filter(|reason| *reason != Reason::Unspecified)
        .ok_or_else(|| {
            "there are malformed, future-version, unknown-enum, invalid-value and store-refused".to_owned()
        })
}

/// Asks, page by page, and prints.
pub(super) async fn list(mut client: Client, args: LettersArgs, as_json: bool) -> Result<(), CommandError> {
    let mut request = v1::ListDeadLettersRequest {
        reason: args.reason.unwrap_or(Reason::Unspecified) as i32,
        page_size: 1000,
        page_token: String::new(),
    };
    let mut found = v1::ListDeadLettersResponse::default();
    loop {
        let page = client.list_dead_letters(request.clone()).await.map_err(failed)?.into_inner();
        found.dead_letters.extend(page.dead_letters);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
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
pub(super) async fn replay(mut client: Client, args: ReplayArgs) -> Result<(), CommandError> {
    let request = v1::ReplayDeadLettersRequest {
        sequences: args.sequences,
        reason: args.reason.unwrap_or(Reason::Unspecified) as i32,
    };
    let answer = client.replay_dead_letters(request).await.map_err(failed)?.into_inner();
    print(&format!("{} put on the bus again; those that fail again come back", answer.replayed))
}
