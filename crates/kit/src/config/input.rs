//! Bytes of the files that a configuration is made of.

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

/// Larger than any sensible configuration or key.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The content of a file, or what keeps it from being read. Returns for every path: opening a pipe would wait for its
/// writer, and a device may have no end.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("has more than {MAX_FILE_BYTES} bytes, which no configuration needs"));
    }
    Ok(bytes)
}

/// As [`read_file`], for text.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    String::from_utf8(read_file(path)?)
        .map_err(|error| format!("is not UTF-8 text: byte {} is wrong", error.utf8_error().valid_up_to()))
}
