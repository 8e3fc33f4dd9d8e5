//! `/v1/files`, for OpenAI and for xAI.

use super::Dialect;
use crate::batches::{self, NewFile, Page, Shelf, StoredFile};
use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::vendor::Vendor;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Largest input file of a batch.
const LARGEST: usize = 200 << 20;
const PURPOSES: [&str; 6] = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];

/// Answers a call below `/v1/files`.
pub(crate) fn answer(call: &Call<'_>, shelf: &mut Shelf, dialect: Dialect) -> Result<Reply, Problem> {
    let vendor = dialect.vendor();
    let rest = call.path.strip_prefix("/v1/files").unwrap_or_default().trim_start_matches('/');
    let (id, action) = rest.split_once('/').unwrap_or((rest, ""));
    match (call.method.as_str(), id, action) {
        ("POST", "", "") => upload(call, shelf, dialect),
        ("GET", "", "") => Ok(list(call, shelf, dialect)),
        ("GET", _, "") => Ok(Reply::json(200, &object(find(shelf, vendor, id)?, dialect))),
        ("GET", _, "content") => {
            let content = find(shelf, vendor, id)?.new.content.clone();
            Ok(Reply::whole(200, "application/octet-stream", content))
        }
        ("DELETE", _, "") => {
            find(shelf, vendor, id)?;
            shelf.remove_file(vendor, id);
            Ok(Reply::json(200, &json!({"id": id, "object": "file", "deleted": true})))
        }
        _ => Err(Problem::new(Kind::NoPath).saying(format!("Invalid URL ({} {})", call.method, call.path))),
    }
}

/// A time in seconds.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn upload(call: &Call<'_>, shelf: &mut Shelf, dialect: Dialect) -> Result<Reply, Problem> {
    let required = |field: &str| Problem::field(field, format!("'{field}' is a required property"));
    let content_type = call.header("content-type").unwrap_or_default();
    let parts = batches::parts(content_type, call.raw).ok_or_else(|| required("file"))?;
    let file = batches::field(&parts, "file").ok_or_else(|| required("file"))?;
    let purpose =
        batches::field(&parts, "purpose").map(|part| String::from_utf8_lossy(&part.content).into_owned());
    let name = file.filename.clone().unwrap_or_default();
    let purpose = if dialect == Dialect::Xai {
        String::new()
    } else {
        check(&purpose.ok_or_else(|| required("purpose"))?, &name, file.content.len())?
    };
    let new = NewFile { name, purpose, content: file.content.clone(), ..NewFile::default() };
    let prefix = if dialect == Dialect::Xai { "file_" } else { "file-" };
    let stored = shelf.keep(call, dialect.vendor(), prefix, new)?;
    Ok(Reply::json(200, &object(stored, dialect)))
}

fn check(purpose: &str, name: &str, bytes: usize) -> Result<String, Problem> {
    if !PURPOSES.contains(&purpose) {
        return Err(Problem::field("purpose", format!("'{purpose}' is not one of {PURPOSES:?} - 'purpose'")));
    }
    if purpose == "batch" && !name.ends_with(".jsonl") {
        return Err(Problem::field("file", "Invalid file format for Batch API. Must be .jsonl"));
    }
    if purpose == "batch" && bytes > LARGEST {
        return Err(Problem::new(Kind::TooLarge).saying(format!(
            "File is too large: {bytes} bytes. The limit of a batch input file is {LARGEST} bytes."
        )));
    }
    if bytes == 0 {
        return Err(Problem::field("file", "File is empty."));
    }
    Ok(purpose.to_owned())
}

fn find<'a>(shelf: &'a Shelf, vendor: Vendor, id: &str) -> Result<&'a StoredFile, Problem> {
    shelf.file(vendor, id).ok_or_else(|| Problem {
        status: Some(404),
        ..Problem::field("id", format!("No such File object: {id}"))
    })
}

fn list(call: &Call<'_>, shelf: &Shelf, dialect: Dialect) -> Reply {
    let purpose = call.parameter("purpose");
    let wanted = |file: &&StoredFile| {
        file.vendor == dialect.vendor() && purpose.is_none_or(|purpose| file.new.purpose == purpose)
    };
    let mut files: Vec<&StoredFile> = shelf.files.iter().filter(wanted).collect();
    if call.parameter("order") != Some("asc") {
        files.reverse();
    }
    let after = call.parameter(if dialect == Dialect::Xai { "pagination_token" } else { "after" });
    let page = Page::after(&files, after, call.limit(10_000, 10_000), |file| file.id.as_str());
    let data: Vec<Value> = page.items.iter().map(|file| object(file, dialect)).collect();
    let last = page.items.last().map(|file| file.id.as_str());
    if dialect == Dialect::Xai {
        return Reply::json(200, &json!({"data": data, "pagination_token": last.filter(|_| page.more)}));
    }
    let first = page.items.first().map(|file| file.id.as_str());
    Reply::json(
        200,
        &json!({"object": "list", "data": data, "has_more": page.more, "first_id": first, "last_id": last}),
    )
}

fn object(file: &StoredFile, dialect: Dialect) -> Value {
    let mut object = json!({
        "id": file.id, "object": "file", "bytes": file.new.content.len(), "created_at": seconds(file.created),
        "filename": file.new.name, "purpose": file.new.purpose, "expires_at": null,
    });
    if dialect != Dialect::Xai {
        object["status"] = "processed".into();
        object["status_details"] = Value::Null;
    }
    object
}
