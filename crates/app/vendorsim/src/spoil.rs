//! Does a fault to a reply's body.

use crate::body::{Ending, SimBody};
use crate::fault::{Fault, Mishap};
use crate::reply::{Content, Frame, Frames};
use bytes::Bytes;

/// The body as it goes out.
pub(crate) fn spoil(content: Content, fault: &Fault) -> SimBody {
    let body = match content {
        Content::Whole(bytes) => spoil_whole(bytes, fault),
        Content::Frames(frames) => spoil_frames(frames, fault),
    };
    body.paced(fault.first_byte, fault.trickle)
}

/// A body with a length: cut or stalled it stops half way; an error within a stream does not apply.
fn spoil_whole(bytes: Bytes, fault: &Fault) -> SimBody {
    let length = Some(bytes.len() as u64);
    let bytes = if fault.malformed { without_last_brace(&bytes) } else { bytes };
    match fault.mishap {
        Some(Mishap::Cut(_)) => SimBody::new(half(&bytes), length, Ending::Cut),
        Some(Mishap::Stall(_)) => SimBody::new(half(&bytes), length, Ending::Stall),
        Some(Mishap::Error(_)) | None => SimBody::new(vec![Frame::plain(bytes)], length, Ending::Whole),
    }
}

fn half(bytes: &Bytes) -> Vec<Frame> {
    vec![Frame::plain(bytes.slice(..bytes.len() / 2))]
}

fn spoil_frames(stream: Frames, fault: &Fault) -> SimBody {
    let Frames { mut frames, error } = stream;
    if fault.malformed
        && let Some(first) = frames.iter_mut().find(|frame| frame.token)
    {
        first.bytes = without_last_brace(&first.bytes);
    }
    let ending = match fault.mishap {
        None => Ending::Whole,
        Some(Mishap::Stall(after)) => {
            frames.truncate(after_tokens(&frames, after));
            Ending::Stall
        }
        Some(Mishap::Error(after)) => {
            frames.truncate(after_tokens(&frames, after));
            let error = error(frames.len());
            let echoed = fault.heard.as_ref().map(|heard| saying(&error, heard));
            frames.push(Frame::plain(echoed.unwrap_or(error)));
            Ending::Whole
        }
        Some(Mishap::Cut(after)) => {
            let at = after_tokens(&frames, after);
            let torn = frames.get(at).map(|frame| Frame::plain(frame.bytes.slice(..frame.bytes.len() / 2)));
            frames.truncate(at);
            frames.extend(torn);
            Ending::Cut
        }
    };
    SimBody::new(frames, None, ending)
}

/// How many frames hold the first `tokens` tokens. A shorter answer ends before what follows its last token.
fn after_tokens(frames: &[Frame], tokens: u64) -> usize {
    let mut left = tokens;
    let mut last = 0;
    for (n, _) in frames.iter().enumerate().filter(|(_, frame)| frame.token) {
        if left == 0 {
            return n;
        }
        left -= 1;
        last = n + 1;
    }
    last
}

/// An error that says something before its message.
fn saying(error: &Bytes, what: &str) -> Bytes {
    let field = "\"message\":\"";
    String::from_utf8_lossy(error).replacen(field, &format!("{field}{what}. "), 1).into()
}

/// The same JSON with its last brace blanked out.
fn without_last_brace(bytes: &Bytes) -> Bytes {
    let mut spoilt = bytes.to_vec();
    if let Some(at) = spoilt.iter().rposition(|byte| *byte == b'}') {
        spoilt[at] = b' ';
    }
    spoilt.into()
}
