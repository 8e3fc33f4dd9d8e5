//! Results of batches: elements come out of a document the same however its bytes are cut, and no result, batch or list
//! makes its reader panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use signalbox_fuzz::{Feeder, same_however_cut};
use signalbox_types::{Failure, VendorKind};
use signalbox_vendors::{ElementFrames, JsonTools, codec_for};

const KEYS: [&str; 2] = ["results", "inlinedResponses"];

fuzz_target!(|body: &[u8]| {
    for codec in VendorKind::ALL.into_iter().filter_map(|kind| codec_for(kind).batches()) {
        for line in body.split(|byte| *byte == b'\n') {
            let _ = codec.decode_result(line, &JsonTools::new());
        }
        let _ = (
            codec.decode(body),
            codec.decode_list(body),
            codec.results("id", body),
            codec.next_page("id", body),
        );
    }
    for key in KEYS {
        same_however_cut(body, |body| elements(key, body));
    }
});

fn elements(key: &'static str, body: Feeder<'_>) -> (Vec<Vec<u8>>, Result<Vec<u8>, Failure>) {
    let (mut frames, mut read, mut failure) = (ElementFrames::new(key), Vec::new(), None);
    body.feed(|bytes| {
        failure = frames.push(bytes).err();
        read.extend(std::iter::from_fn(|| frames.next_element()));
        failure.is_none()
    });
    (read, failure.map_or_else(|| frames.into_rest(), Err))
}
