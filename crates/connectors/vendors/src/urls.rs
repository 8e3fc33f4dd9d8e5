//! Text as a part of a URL.

/// A text as one segment of a path, or one value of a query.
pub(crate) fn in_url(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
        encoded
    })
}
