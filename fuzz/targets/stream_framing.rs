//! Frames come out the same however the bytes are cut, and no bytes make the framing panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use signalbox_fuzz::{Feeder, same_however_cut};
use signalbox_types::Failure;
use signalbox_vendors::{NdjsonFrames, SseFrames};

fuzz_target!(|body: &[u8]| {
    same_however_cut(body, sse);
    same_however_cut(body, ndjson);
});

/// Frames, failure, and what was left.
type Read<T> = (Vec<T>, Option<Failure>, Vec<u8>);

fn sse(body: Feeder<'_>) -> Read<(String, String)> {
    let (mut frames, mut read, mut failure) = (SseFrames::default(), Vec::new(), None);
    body.feed(|bytes| {
        frames.push(bytes);
        loop {
            match frames.next_frame() {
                Ok(Some(frame)) => read.push((frame.event.to_owned(), frame.data.to_owned())),
                Ok(None) => return true,
                Err(error) => {
                    failure = Some(error);
                    return false;
                }
            }
        }
    });
    let rest = left(&failure, frames.rest());
    (read, failure, rest)
}

fn ndjson(body: Feeder<'_>) -> Read<String> {
    let (mut frames, mut read, mut failure) = (NdjsonFrames::default(), Vec::new(), None);
    body.feed(|bytes| {
        frames.push(bytes);
        loop {
            match frames.next_line() {
                Ok(Some(line)) => read.push(line.to_owned()),
                Ok(None) => return true,
                Err(error) => {
                    failure = Some(error);
                    return false;
                }
            }
        }
    });
    let rest = left(&failure, frames.rest());
    (read, failure, rest)
}

/// After a failure nobody asks for the rest, and how much was pushed before it depends on the cut.
fn left(failure: &Option<Failure>, rest: &[u8]) -> Vec<u8> {
    if failure.is_none() { rest.to_vec() } else { Vec::new() }
}
