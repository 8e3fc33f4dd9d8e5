//! Images, as OpenAI takes them: by address or as a `data:` URL.

use base64::{display::Base64Display, engine::general_purpose::STANDARD};
use serde::{Serialize, Serializer};
use signalbox_types::{Image, ImageDetail, ImageSource};

/// An image's address; inline bytes are written as base64 without a copy in between.
#[derive(Debug)]
pub(super) struct Address<'a>(&'a ImageSource);

impl<'a> Address<'a> {
    pub(super) fn of(image: &'a Image) -> Self {
        Self(&image.source)
    }
}

impl Serialize for Address<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ImageSource::Url(url) => serializer.serialize_str(url),
            ImageSource::Inline { media_type, data } => {
                let base64 = Base64Display::new(data, &STANDARD);
                serializer.collect_str(&format_args!("data:{media_type};base64,{base64}"))
            }
        }
    }
}

/// The word for the detail, where one was asked for.
pub(super) fn detail(image: &Image) -> Option<&'static str> {
    match image.detail {
        ImageDetail::Auto => None,
        ImageDetail::Low => Some("low"),
        ImageDetail::High => Some("high"),
    }
}
