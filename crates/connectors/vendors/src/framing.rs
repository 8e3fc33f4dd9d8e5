//! Cuts a streamed body into frames, however its bytes arrive.
//!
//! Every byte is looked at once. Frames are read into buffers that are used again, so that a stream allocates for
//! its longest frame and not for each.

use signalbox_types::{ErrorReason, Failure};
use std::ops::Range;

/// Longest frame taken from a vendor; one more byte is a broken (or hostile) answer.
const FRAME_LIMIT: usize = 16 << 20;

/// Most bytes kept of lines that are no SSE fields: an error body is shorter.
const STRAY_LIMIT: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One server-sent event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The `event:` field; empty where there is none.
    pub event: &'a str,
    /// The `data:` lines, joined by newlines.
    pub data: &'a str,
}

/// Server-sent events, read more tolerantly than the standard asks: any line end, any spacing, and lines that are
/// no fields are kept for a look at what the vendor meant.
#[derive(Debug, Default)]
pub struct SseFrames {
    lines: Lines,
    event: String,
    /// Each data line with a newline after it, as the standard has it.
    data: String,
    /// `event` and `data` were handed out and belong to the past.
    handed_out: bool,
}

impl SseFrames {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The next whole event. Comments and events without data are skipped.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Failure> {
        if std::mem::take(&mut self.handed_out) {
            self.clear();
        }
        if !self.read_event()? {
            return Ok(None);
        }
        self.handed_out = true;
        Ok(Some(Frame { event: &self.event, data: &self.data }))
    }

    /// What was not part of any event: lines that are no SSE fields (a bare JSON error, say), then the unfinished
    /// last line. Complete once [`Self::next_frame`] has given `None`.
    pub fn rest(&self) -> &[u8] {
        self.lines.rest()
    }

    /// Reads lines until an event is whole.
    fn read_event(&mut self) -> Result<bool, Failure> {
        while let Some(line) = self.lines.next_line()? {
            match Line::read(self.lines.get(&line)) {
                Line::End => {
                    self.data.pop();
                    if !self.data.is_empty() {
                        return Ok(true);
                    }
                    self.clear();
                }
                Line::Data(value) => {
                    if self.data.len() + value.len() > FRAME_LIMIT {
                        return Err(too_long());
                    }
                    self.data.push_str(text(value)?);
                    self.data.push('\n');
                }
                Line::Event(value) => {
                    self.event.clear();
                    self.event.push_str(text(value)?);
                }
                Line::Ignored => {}
                Line::Stray => self.lines.keep(line),
            }
        }
        Ok(false)
    }

    fn clear(&mut self) {
        self.event.clear();
        self.data.clear();
    }
}

/// Newline-delimited JSON.
#[derive(Debug, Default)]
pub struct NdjsonFrames {
    lines: Lines,
}

impl NdjsonFrames {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The next whole, non-blank line.
    pub fn next_line(&mut self) -> Result<Option<&str>, Failure> {
        let line = loop {
            match self.lines.next_line()? {
                Some(line) if self.lines.get(&line).trim_ascii().is_empty() => {}
                Some(line) => break line,
                None => return Ok(None),
            }
        };
        text(self.lines.get(&line).trim_ascii()).map(Some)
    }

    /// The unfinished last line. Complete once [`Self::next_line`] has given `None`.
    pub fn rest(&self) -> &[u8] {
        self.lines.rest()
    }
}

/// What a line of an event stream says.
enum Line<'a> {
    /// A blank line: the event is whole.
    End,
    Data(&'a [u8]),
    Event(&'a [u8]),
    /// A comment, a field of no use here, or padding.
    Ignored,
    /// No SSE field.
    Stray,
}

impl<'a> Line<'a> {
    fn read(line: &'a [u8]) -> Self {
        if line.is_empty() {
            return Self::End;
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => Self::Data(value),
            b"event" => Self::Event(value),
            b"" | b"id" | b"retry" => Self::Ignored,
            _ if line.trim_ascii().is_empty() => Self::Ignored,
            _ => Self::Stray,
        }
    }
}

/// A byte buffer that gives whole lines. Layout: kept lines, lines read already, lines to come.
#[derive(Debug, Default)]
struct Lines {
    buffer: Vec<u8>,
    /// End of the kept lines.
    kept: usize,
    /// Start of the first line not read yet.
    start: usize,
    /// No line end lies between `start` and here.
    scanned: usize,
    /// The last line ended with a carriage return: a line feed right after it belongs to it.
    after_return: bool,
    /// Some line was read: a byte order mark is none any more.
    begun: bool,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    fn get(&self, line: &Range<usize>) -> &[u8] {
        self.buffer.get(line.clone()).unwrap_or_default()
    }

    /// The next whole line, without its end.
    fn next_line(&mut self) -> Result<Option<Range<usize>>, Failure> {
        self.skip_line_feed();
        let unread = self.buffer.get(self.scanned..).unwrap_or_default();
        let Some(length) = unread.iter().position(|&byte| byte == b'\n' || byte == b'\r') else {
            self.scanned = self.buffer.len();
            self.forget_read_lines();
            return if self.buffer.len() - self.start > FRAME_LIMIT { Err(too_long()) } else { Ok(None) };
        };
        let end = self.scanned + length;
        let mut line = self.start..end;
        if line.len() > FRAME_LIMIT {
            return Err(too_long());
        }
        if !std::mem::replace(&mut self.begun, true) && self.get(&line).starts_with(BYTE_ORDER_MARK) {
            line.start += BYTE_ORDER_MARK.len();
        }
        self.after_return = self.buffer.get(end) == Some(&b'\r');
        self.start = end + 1;
        self.scanned = self.start;
        Ok(Some(line))
    }

    fn skip_line_feed(&mut self) {
        if !self.after_return {
            return;
        }
        if let Some(next) = self.buffer.get(self.start) {
            self.after_return = false;
            if *next == b'\n' {
                self.start += 1;
                self.scanned = self.start;
            }
        }
    }

    /// Makes room. What moves came with the last push, so that all moves together are no more than the stream.
    fn forget_read_lines(&mut self) {
        let gone = self.start - self.kept;
        if gone > 0 {
            self.buffer.drain(self.kept..self.start);
            self.start -= gone;
            self.scanned -= gone;
        }
    }

    /// Keeps a line just read for [`Self::rest`].
    fn keep(&mut self, line: Range<usize>) {
        let (length, to) = (line.len(), self.kept);
        if to + length >= STRAY_LIMIT {
            return;
        }
        self.buffer.copy_within(line, to);
        if let Some(end) = self.buffer.get_mut(to + length) {
            *end = b'\n';
            self.kept = to + length + 1;
        }
    }

    fn rest(&self) -> &[u8] {
        let from = if self.start == self.kept { 0 } else { self.start };
        self.buffer.get(from..).unwrap_or_default()
    }
}

fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes)
        .map_err(|_| Failure::new(ErrorReason::VendorBadResponse, "the vendor's stream is not valid UTF-8"))
}

fn too_long() -> Failure {
    let message = format!("the vendor's stream has a frame of more than {} MiB", FRAME_LIMIT >> 20);
    Failure::new(ErrorReason::VendorBadResponse, message)
}

#[cfg(test)]
mod tests;
