//! Reads `multipart/form-data` and its like.

use bytes::Bytes;

/// One part of a form.
#[derive(Debug, Default, Clone)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) content_type: String,
    pub(crate) content: Bytes,
}

/// The parts of a body; `None` where it is no such form.
pub(crate) fn parts(content_type: &str, body: &Bytes) -> Option<Vec<Part>> {
    let boundary = content_type.split(';').find_map(|part| part.trim().strip_prefix("boundary="))?;
    let mark = format!("--{}", boundary.trim_matches('"'));
    let mut rest = after(body, mark.as_bytes())?;
    let mark = format!("\r\n{mark}");
    let mut parts = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let end = find(part, mark.as_bytes())?;
        parts.push(read(body, part.get(..end)?)?);
        rest = part.get(end + mark.len()..)?;
    }
    rest.starts_with(b"--").then_some(parts)
}

/// The part of that name.
pub(crate) fn field<'a>(parts: &'a [Part], name: &str) -> Option<&'a Part> {
    parts.iter().find(|part| part.name == name)
}

fn read(body: &Bytes, part: &[u8]) -> Option<Part> {
    let head_end = find(part, b"\r\n\r\n")?;
    let head = std::str::from_utf8(part.get(..head_end)?).ok()?;
    let mut read = Part { content: body.slice_ref(part.get(head_end + 4..)?), ..Part::default() };
    for line in head.split("\r\n") {
        let (name, value) = line.split_once(':')?;
        match name.to_ascii_lowercase().as_str() {
            "content-disposition" => {
                read.name = quoted(value, "name").unwrap_or_default();
                read.filename = quoted(value, "filename");
            }
            "content-type" => read.content_type = value.trim().to_owned(),
            _ => {}
        }
    }
    Some(read)
}

/// A parameter like `name="file"`.
fn quoted(value: &str, parameter: &str) -> Option<String> {
    let found = value.split(';').find_map(|part| part.trim().strip_prefix(parameter)?.strip_prefix('='))?;
    Some(found.trim_matches('"').to_owned())
}

fn after<'a>(body: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    body.get(find(body, mark)? + mark.len()..)
}

/// Where `mark` starts. Looks for its first byte first, which is rare.
fn find(body: &[u8], mark: &[u8]) -> Option<usize> {
    let first = *mark.first()?;
    let mut from = 0;
    loop {
        let at = from + body.get(from..)?.iter().position(|byte| *byte == first)?;
        if body.get(at..)?.starts_with(mark) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_with_names_and_contents() {
        let body = Bytes::from_static(
            b"--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
              --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\
              Content-Type: application/jsonl\r\n\r\n{}\r\n--y\n\r\n--x--\r\n",
        );
        let parts = parts("multipart/form-data; boundary=\"x\"", &body).unwrap();
        assert_eq!(field(&parts, "purpose").unwrap().content, "batch");
        let file = field(&parts, "file").unwrap();
        assert_eq!(
            (file.filename.as_deref(), file.content_type.as_str()),
            (Some("in.jsonl"), "application/jsonl")
        );
        assert_eq!(file.content, "{}\r\n--y\n");
    }

    #[test]
    fn a_form_without_its_end_is_none() {
        let body = Bytes::from_static(b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x");
        assert!(parts("multipart/form-data; boundary=x", &body).is_none());
        assert!(parts("application/json", &body).is_none());
    }
}
