//! Images in requests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Tokens of an image, whatever its size.
pub(crate) const TOKENS: u64 = 85;

/// Size of base64 data in bytes; `None` if it is not base64.
pub(crate) fn size_of_base64(data: &str) -> Option<usize> {
    STANDARD.decode(data).ok().map(|bytes| bytes.len())
}

/// Size of the image behind a URL: known for `data:` URLs.
///
/// # Errors
/// The `data:` URL holds no base64.
pub(crate) fn size_of_url(url: &str) -> Result<Option<usize>, ()> {
    let Some(data) = url.strip_prefix("data:") else { return Ok(None) };
    let (_, data) = data.split_once(";base64,").ok_or(())?;
    size_of_base64(data).map(Some).ok_or(())
}
