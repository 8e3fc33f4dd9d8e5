//! The files that a batch of OpenAI's leaves.

use crate::batches::{Answered, Batch, End, Item, ItemEnd, NewFile};
use crate::seed::Seed;
use serde_json::{Value, json};

/// Output and errors, where there are any; the batch learns their ids and what was used.
pub(crate) fn files_of(batch: &mut Batch) -> Vec<(String, NewFile)> {
    if batch.end() == Some(End::Refused) {
        return Vec::new();
    }
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut usage = [0; 5];
    for item in batch.shuffled() {
        let (line, succeeded) = line(item);
        if succeeded {
            add_usage(&mut usage, &line["response"]["body"]["usage"]);
        }
        let file = if succeeded { &mut output } else { &mut errors };
        file.extend_from_slice(line.to_string().as_bytes());
        file.push(b'\n');
    }
    batch.about.usage = usage_object(usage);
    let mut files = Vec::new();
    let mut keep = |kind: &str, content: Vec<u8>| {
        let id =
            (!content.is_empty()).then(|| Seed::of(batch.id.as_bytes()).id(&format!("file-{kind}-"), 0))?;
        let new = NewFile {
            name: format!("{}_{kind}.jsonl", batch.id),
            purpose: "batch_output".to_owned(),
            content: content.into(),
            ..NewFile::default()
        };
        files.push((id.clone(), new));
        Some(id)
    };
    let (output, errors) = (keep("output", output), keep("error", errors));
    (batch.about.output_file, batch.about.error_file) = (output, errors);
    files
}

/// The line of an item, and whether it is an answer.
fn line(item: &Item) -> (Value, bool) {
    let id = Seed::of_item(&item.id, &item.body).id("batch_req_", 0);
    let (response, error, succeeded) = match &item.end {
        Some(ItemEnd::Answered(answered)) => (response(answered), Value::Null, answered.succeeded()),
        Some(ItemEnd::Cancelled) => {
            let message = "This request was not executed because the batch was cancelled.";
            (Value::Null, json!({"code": "batch_cancelled", "message": message}), false)
        }
        Some(ItemEnd::Expired) | None => {
            let message = "This request could not be executed before the completion window expired.";
            (Value::Null, json!({"code": "batch_expired", "message": message}), false)
        }
    };
    (json!({"id": id, "custom_id": item.id, "response": response, "error": error}), succeeded)
}

fn response(answered: &Answered) -> Value {
    json!({"status_code": answered.status, "request_id": answered.request_id, "body": answered.json()})
}

/// Adds input, cached input, output, reasoning and total; chat completions have their own names for them.
fn add_usage(sum: &mut [u64; 5], usage: &Value) {
    let first = |names: [&str; 2]| names.iter().find_map(|name| usage.pointer(name)?.as_u64()).unwrap_or(0);
    let counts = [
        first(["/input_tokens", "/prompt_tokens"]),
        first(["/input_tokens_details/cached_tokens", "/prompt_tokens_details/cached_tokens"]),
        first(["/output_tokens", "/completion_tokens"]),
        first(["/output_tokens_details/reasoning_tokens", "/completion_tokens_details/reasoning_tokens"]),
        first(["/total_tokens", "/total_tokens"]),
    ];
    sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}

fn usage_object([input, cached, output, reasoning, total]: [u64; 5]) -> Value {
    json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning}, "total_tokens": total,
    })
}
