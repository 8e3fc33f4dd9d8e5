//! Every vendor's stream decoder makes the same of the same bytes however they are cut, keeps its promise of exactly
//! one end, and panics at none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use signalbox_fuzz::{Feeder, same_however_cut};
use signalbox_types::{Failure, StreamEvent, TokenUsage, VendorKind};
use signalbox_vendors::codec_for;

const KINDS: [VendorKind; 6] = [
    VendorKind::Openai,
    VendorKind::OpenaiCompatible,
    VendorKind::Anthropic,
    VendorKind::Gemini,
    VendorKind::Xai,
    VendorKind::Ollama,
];

fuzz_target!(|body: &[u8]| {
    for kind in KINDS {
        for json_tool in [None, Some("json_output")] {
            same_however_cut(body, |body| decode(kind, json_tool, body));
        }
    }
});

type Decoded = (Vec<StreamEvent>, Option<Failure>, Option<TokenUsage>);

fn decode(kind: VendorKind, json_tool: Option<&str>, body: Feeder<'_>) -> Decoded {
    let mut decoder = codec_for(kind).stream_decoder(json_tool);
    let (mut events, mut failure) = (Vec::new(), None);
    body.feed(|bytes| {
        failure = decoder.feed(bytes, &mut events).err();
        failure.is_none() && !is_done(&events)
    });
    if failure.is_none() && !is_done(&events) {
        failure = decoder.finish(&mut events).err();
    }
    let ends = events.iter().filter(|event| matches!(event, StreamEvent::Done(_))).count();
    assert_eq!(ends + usize::from(failure.is_some()), 1, "{kind:?}: one end: {events:?} {failure:?}");
    assert!(ends == 0 || is_done(&events), "{kind:?}: nothing after the end: {events:?}");
    (events, failure, decoder.usage())
}

fn is_done(events: &[StreamEvent]) -> bool {
    matches!(events.last(), Some(StreamEvent::Done(_)))
}
