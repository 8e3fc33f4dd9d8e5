//! A file of lines as a form with two fields, `purpose` and `file`.

use ::http::HeaderValue;
use bytes::Bytes;

/// Lines are JSON, in which no line begins like this.
const BOUNDARY: &str = "signalbox-batch-7f3a9c51e0d84b26";

/// The form, in pieces.
pub(super) struct Form(Vec<Bytes>);

impl Form {
    /// A file named after the batch's key. Lines come with their ends.
    pub(super) fn of_lines(key: &str, lines: Vec<Bytes>) -> Self {
        let head = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
             --{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{key}.jsonl\"\r\n\
             content-type: application/jsonl\r\n\r\n"
        );
        let mut pieces = Vec::with_capacity(lines.len() + 2);
        pieces.push(Bytes::from(head));
        pieces.extend(lines);
        pieces.push(Bytes::from(format!("\r\n--{BOUNDARY}--\r\n")));
        Self(pieces)
    }

    pub(super) fn content_type(&self) -> HeaderValue {
        HeaderValue::from_static("multipart/form-data; boundary=signalbox-batch-7f3a9c51e0d84b26")
    }

    pub(super) fn into_pieces(self) -> Vec<Bytes> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_framed_by_the_boundary_that_its_type_names() {
        let form = Form::of_lines("w-1", vec![Bytes::from_static(b"{}\n")]);
        assert!(form.content_type().to_str().unwrap().ends_with(BOUNDARY));
        let body = String::from_utf8(form.into_pieces().concat()).unwrap();
        assert!(body.starts_with(&format!("--{BOUNDARY}\r\n")), "{body}");
        assert!(body.contains("filename=\"w-1.jsonl\"\r\n"), "{body}");
        assert!(body.ends_with(&format!("\r\n\r\n{{}}\n\r\n--{BOUNDARY}--\r\n")), "{body}");
    }
}
