//! A wire format small enough to see through.

use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use crate::draft::Draft;
use signalbox_types::{
    Adjustment, Completion, EmbedRequest, EmbeddingAnswer, ErrorReason, Failure, ModelAnswer, Part, Prompt,
    StreamEvent, TokenUsage,
};

/// Answers are lines. In a stream each line is a text; `fin` says why the answer ended, `.` ends it, `!` is an error.
#[derive(Debug)]
pub(super) struct Lines;

impl Codec for Lines {
    fn default_base_url(&self) -> Option<&'static str> {
        None
    }

    fn credentials(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
        Ok(EncodedCall {
            path: format!("/{}?stream={}", context.model, context.stream),
            headers: vec![("x-version", "7".to_owned())],
            body: prompt.system.clone().into_bytes(),
            adjustments: vec![Adjustment { field: "stop".into(), description: "dropped".into() }],
            json_tool: None,
        })
    }

    fn draft(&self, body: &[u8], _: Option<&str>) -> Result<Draft, Failure> {
        let text = String::from_utf8(body.to_vec()).unwrap();
        if text == "?" {
            return Err(Failure::new(ErrorReason::VendorBadResponse, "what"));
        }
        Ok(ModelAnswer { parts: vec![Part::text(text)], ..ModelAnswer::default() }.into())
    }

    fn stream_decoder(&self, _: Option<&str>) -> Box<dyn StreamDecoder> {
        Box::new(LineDecoder::default())
    }

    fn decode_failure(&self, head: ResponseHead<'_>, body: &[u8]) -> Failure {
        Failure::new(ErrorReason::VendorError, format!("{} {}", head.status, String::from_utf8_lossy(body)))
    }

    fn encode_embed(&self, _: EncodeContext<'_>, request: &EmbedRequest) -> Result<EncodedCall, Failure> {
        let body = request.inputs.join(" ").into_bytes();
        Ok(EncodedCall { path: "/embed".to_owned(), body, ..EncodedCall::default() })
    }

    fn decode_embed(&self, body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
        Ok(EmbeddingAnswer { embeddings: vec![vec![body.len() as f32]], ..EmbeddingAnswer::default() })
    }

    fn encode_count_tokens(
        &self,
        _: EncodeContext<'_>,
        prompt: &Prompt,
    ) -> Result<Option<EncodedCall>, Failure> {
        let call = EncodedCall { path: "/count".to_owned(), ..EncodedCall::default() };
        Ok((!prompt.system.is_empty()).then_some(call))
    }

    fn decode_count_tokens(&self, body: &[u8]) -> Result<u64, Failure> {
        Ok(body.len() as u64)
    }
}

#[derive(Default)]
struct LineDecoder {
    unread: Vec<u8>,
    finished: bool,
    lines: u64,
}

impl StreamDecoder for LineDecoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.unread.extend_from_slice(bytes);
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8(self.unread.drain(..=end).collect()).unwrap();
            self.lines += 1;
            match line.trim_end() {
                "!" => return Err(Failure::new(ErrorReason::VendorOverloaded, "overloaded")),
                told if told.starts_with('!') => {
                    let message = format!("overloaded {}", &told[1..]);
                    return Err(Failure::new(ErrorReason::VendorOverloaded, message));
                }
                "fin" => self.finished = true,
                "." => {
                    events.push(StreamEvent::Done(Completion::default()));
                    return Ok(());
                }
                text => events.push(StreamEvent::Text(text.to_owned())),
            }
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        if !self.finished {
            return Err(Failure::new(ErrorReason::StreamTruncated, "no end"));
        }
        events.push(StreamEvent::Done(Completion::default()));
        Ok(())
    }

    fn usage(&self) -> Option<TokenUsage> {
        (self.lines > 0).then(|| TokenUsage { output: self.lines, ..TokenUsage::default() })
    }
}
