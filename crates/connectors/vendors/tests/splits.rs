//! A stream says the same however its bytes are cut on the way.

mod support;

use proptest::prelude::*;
use signalbox_types::{StreamEvent, VendorKind};
use support::{Fixture, VENDORS, read_stream, streams};

/// Cuts every stream of a vendor in two, at every byte.
fn cut_in_two(vendor: VendorKind) {
    for fixture in streams(vendor) {
        let bytes = fixture.bytes.as_slice();
        let whole = read_stream(vendor, [bytes]);
        for at in 0..=bytes.len() {
            let (before, after) = bytes.split_at(at);
            assert_eq!(read_stream(vendor, [before, after]), whole, "{vendor}/{} cut at {at}", fixture.name);
        }
        assert_eq!(read_stream(vendor, bytes.chunks(1)), whole, "{vendor}/{} byte by byte", fixture.name);
    }
}

#[test]
fn openai_streams_may_be_cut_anywhere() {
    cut_in_two(VendorKind::Openai);
}

#[test]
fn xai_streams_may_be_cut_anywhere() {
    cut_in_two(VendorKind::Xai);
}

#[test]
fn anthropic_streams_may_be_cut_anywhere() {
    cut_in_two(VendorKind::Anthropic);
}

#[test]
fn gemini_streams_may_be_cut_anywhere() {
    cut_in_two(VendorKind::Gemini);
}

#[test]
fn ollama_streams_may_be_cut_anywhere() {
    cut_in_two(VendorKind::Ollama);
}

#[test]
fn every_stream_ends_with_done_or_a_failure_and_never_both() {
    for fixture in VENDORS.into_iter().flat_map(streams) {
        let streamed = read_stream(fixture.vendor, [fixture.bytes.as_slice()]);
        let done = streamed.events.iter().filter(|event| matches!(event, StreamEvent::Done(_))).count();
        assert_eq!(done, usize::from(streamed.failure.is_none()), "{}/{}", fixture.vendor, fixture.name);
        assert!(
            done == 0 || matches!(streamed.events.last(), Some(StreamEvent::Done(_))),
            "{}",
            fixture.name
        );
    }
}

#[test]
fn a_stream_cut_short_never_ends_well_by_itself() {
    for fixture in VENDORS.into_iter().flat_map(streams) {
        let whole = read_stream(fixture.vendor, [fixture.bytes.as_slice()]);
        for at in 0..fixture.bytes.len() {
            let cut = read_stream(fixture.vendor, [fixture.bytes.get(..at).unwrap()]);
            let (Some(StreamEvent::Done(done)), None) = (cut.events.last(), &cut.failure) else { continue };
            // Ending well early is right only once the vendor had said why the answer ended.
            let Some(StreamEvent::Done(all)) = whole.events.last() else { continue };
            assert_eq!(
                done.finish_reason, all.finish_reason,
                "{}/{} cut at {at}",
                fixture.vendor, fixture.name
            );
        }
    }
}

fn any_stream() -> impl Strategy<Value = Fixture> {
    let all = || VENDORS.into_iter().flat_map(streams).collect::<Vec<_>>();
    let count = all().len();
    (0..count).prop_map(move |at| all().swap_remove(at))
}

proptest! {
    #[test]
    fn streams_may_be_cut_in_many_places(
        fixture in any_stream(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
    ) {
        let bytes = fixture.bytes.as_slice();
        let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let chunks = places.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
        prop_assert_eq!(read_stream(fixture.vendor, chunks), read_stream(fixture.vendor, [bytes]));
    }
}
