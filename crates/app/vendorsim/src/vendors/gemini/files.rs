//! Files: uploads in one piece or in several, and what batches leave.

use super::batches::written;
use super::fields::{get, text};
use crate::batches::{self, NewFile, Page, Shelf, StoredFile};
use crate::call::{Call, check_key};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::vendor::Vendor;
use bytes::Bytes;
use serde_json::{Value, json};

/// The purpose of a file that a batch left; only such can be downloaded.
pub(super) const GENERATED: &str = "GENERATED";
const UPLOADED: &str = "UPLOADED";
/// Largest file.
const LARGEST: usize = 2 << 30;

/// Takes an upload: a piece of one that goes on, the start of one, or a whole file.
pub(crate) fn upload(call: &Call<'_>, shelf: &mut Shelf) -> Result<Reply, Problem> {
    if let Some(id) = call.parameter("upload_id") {
        return go_on(call, shelf, id);
    }
    check_key(call.header("x-goog-api-key").or_else(|| call.parameter("key")))?;
    match call.header("x-goog-upload-protocol") {
        Some("resumable") => start(call, shelf),
        Some("multipart") => whole(call, shelf, related(call)?),
        _ => whole(call, shelf, NewFile { content: call.raw.clone(), ..described(call, &Value::Null) }),
    }
}

/// Answers a call below `/v1beta/files`; `rest` is what follows.
pub(super) fn answer(call: &Call<'_>, shelf: &mut Shelf, rest: &str) -> Result<Reply, Problem> {
    let (name, action) = rest.split_once(':').unwrap_or((rest, ""));
    let id = format!("files/{name}");
    match (call.method.as_str(), name, action) {
        ("GET", "", "") => Ok(list(call, shelf)),
        ("GET", _, "") => Ok(Reply::json(200, &object(call, find(shelf, &id)?))),
        ("GET", _, "download") => download(find(shelf, &id)?),
        ("DELETE", _, "") => {
            find(shelf, &id)?;
            shelf.remove_file(Vendor::Gemini, &id);
            Ok(Reply::json(200, &json!({})))
        }
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

/// A file that is whole.
pub(super) fn find<'a>(shelf: &'a Shelf, id: &str) -> Result<&'a StoredFile, Problem> {
    shelf.file(Vendor::Gemini, id).filter(|file| file.new.promised.is_none()).ok_or_else(|| {
        let message = format!("You do not have permission to access the File {id} or it may not exist.");
        Problem::new(Kind::Permission).saying(message)
    })
}

/// What a caller says of a file before it comes.
fn described(call: &Call<'_>, said: &Value) -> NewFile {
    let file = get(said, "file").unwrap_or(said);
    let header = |name| call.header(name).map(str::to_owned);
    NewFile {
        name: text(file, "displayName").unwrap_or_default().to_owned(),
        purpose: UPLOADED.to_owned(),
        content_type: text(file, "mimeType")
            .map(str::to_owned)
            .or_else(|| header("x-goog-upload-header-content-type"))
            .or_else(|| header("content-type"))
            .unwrap_or_default(),
        ..NewFile::default()
    }
}

fn start(call: &Call<'_>, shelf: &mut Shelf) -> Result<Reply, Problem> {
    let said = if call.raw.is_empty() { &Value::Null } else { call.json()? };
    let promised = call.header("x-goog-upload-header-content-length").and_then(|length| length.parse().ok());
    if promised.is_some_and(|promised: usize| promised > LARGEST) {
        return Err(Problem::new(Kind::TooLarge));
    }
    let new = NewFile { promised: Some(promised.unwrap_or(LARGEST)), ..described(call, said) };
    let file = shelf.keep(call, Vendor::Gemini, "files/", new)?;
    let host = call.header("host").unwrap_or("generativelanguage.googleapis.com");
    let url =
        format!("http://{host}/gemini/upload/v1beta/files?upload_id={}&upload_protocol=resumable", file.id);
    Ok(Reply::json(200, &json!({}))
        .headers(&[("x-goog-upload-url", &url), ("x-goog-upload-status", "active")]))
}

/// The next piece. No key comes with it: who knows the id may go on.
fn go_on(call: &Call<'_>, shelf: &mut Shelf, id: &str) -> Result<Reply, Problem> {
    let open = |file: &&mut StoredFile| {
        file.vendor == Vendor::Gemini && file.id == id && file.new.promised.is_some()
    };
    let file = shelf.files.iter_mut().find(open);
    let file =
        file.ok_or_else(|| Problem::new(Kind::NoModel).saying("Upload has already been terminated."))?;
    let offset: Option<usize> = call.header("x-goog-upload-offset").and_then(|offset| offset.parse().ok());
    if offset.is_some_and(|offset| offset != file.new.content.len()) {
        return Err(Problem::invalid("The upload offset does not match what has been received."));
    }
    file.new.content = if file.new.content.is_empty() {
        call.raw.clone()
    } else {
        Bytes::from([&*file.new.content, &**call.raw].concat())
    };
    if call.header("x-goog-upload-command").is_some_and(|command| command.contains("finalize")) {
        file.new.promised = None;
        let body = json!({"file": object(call, file)});
        return Ok(Reply::json(200, &body).header("x-goog-upload-status", "final"));
    }
    Ok(Reply::json(200, &json!({})).header("x-goog-upload-status", "active"))
}

/// A file with its description before it.
fn related(call: &Call<'_>) -> Result<NewFile, Problem> {
    let parts = batches::parts(call.header("content-type").unwrap_or_default(), call.raw);
    match parts.as_deref() {
        Some([said, content]) => {
            let said = serde_json::from_slice(&said.content).unwrap_or_default();
            let described = described(call, &said);
            let content_type =
                text(get(&said, "file").unwrap_or(&said), "mimeType").unwrap_or(&content.content_type);
            Ok(NewFile {
                content: content.content.clone(),
                content_type: content_type.to_owned(),
                ..described
            })
        }
        _ => Err(Problem::invalid("Multipart body does not contain 2 parts.")),
    }
}

fn whole(call: &Call<'_>, shelf: &mut Shelf, new: NewFile) -> Result<Reply, Problem> {
    let file = shelf.keep(call, Vendor::Gemini, "files/", new)?;
    Ok(Reply::json(200, &json!({"file": object(call, file)})))
}

fn download(file: &StoredFile) -> Result<Reply, Problem> {
    if file.new.purpose != GENERATED {
        return Err(Problem::invalid(format!("File {} is not downloadable.", file.id)));
    }
    Ok(Reply::whole(200, "application/octet-stream", file.new.content.clone()))
}

fn list(call: &Call<'_>, shelf: &Shelf) -> Reply {
    let whole = |file: &&StoredFile| file.vendor == Vendor::Gemini && file.new.promised.is_none();
    let files: Vec<&StoredFile> = shelf.files.iter().rev().filter(whole).collect();
    let size = call.parameter("pageSize").and_then(|size| size.parse().ok()).unwrap_or(10).clamp(1, 100);
    let page = Page::after(&files, call.parameter("pageToken"), size, |file| file.id.as_str());
    let mut body = json!({"files": page.items.iter().map(|file| object(call, file)).collect::<Vec<_>>()});
    if let Some(last) = page.items.last().filter(|_| page.more) {
        body["nextPageToken"] = last.id.as_str().into();
    }
    Reply::json(200, &body)
}

fn object(call: &Call<'_>, file: &StoredFile) -> Value {
    let host = call.header("host").unwrap_or("generativelanguage.googleapis.com");
    let uri = format!("http://{host}/gemini/v1beta/{}", file.id);
    let mut object = json!({
        "name": file.id, "displayName": file.new.name, "mimeType": file.new.content_type,
        "sizeBytes": file.new.content.len().to_string(), "createTime": written(file.created, 0),
        "updateTime": written(file.created, 0), "expirationTime": written(file.created, 48), "uri": uri,
        "state": "ACTIVE", "source": file.new.purpose,
    });
    if file.new.purpose == GENERATED {
        object["downloadUri"] = format!("{uri}:download?alt=media").into();
    }
    object
}
