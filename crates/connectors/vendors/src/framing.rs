//! Cuts a streamed body into frames, however its bytes arrive.

/// One server-sent event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The `event:` field; empty where there is none.
    pub event: &'a str,
    /// The `data:` lines, joined by newlines.
    pub data: &'a str,
}

/// Server-sent events. Stub.
#[derive(Debug, Default)]
pub struct SseFrames {}
impl SseFrames {
    /// Adds bytes.
    pub fn push(&mut self, _bytes: &[u8]) { todo!() }
    /// The next whole event. Comments and events without data are skipped.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, signalbox_types::Failure> { todo!() }
    /// What was not part of any event: unfinished tail, and lines that are no SSE fields (a bare JSON error, say).
    pub fn rest(&self) -> &[u8] { todo!() }
}
/// Newline-delimited JSON. Stub.
#[derive(Debug, Default)]
pub struct NdjsonFrames {}
impl NdjsonFrames {
    /// Adds bytes.
    pub fn push(&mut self, _bytes: &[u8]) { todo!() }
    /// The next whole, non-blank line.
    pub fn next_line(&mut self) -> Result<Option<&str>, signalbox_types::Failure> { todo!() }
    /// The unfinished last line.
    pub fn rest(&self) -> &[u8] { todo!() }
}
