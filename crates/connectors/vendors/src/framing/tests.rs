use super::*;
use proptest::prelude::*;

type Event = (String, String);

/// Feeds `chunks` the way a decoder does and gives every event, and the rest.
fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<(Vec<Event>, Vec<u8>), Failure> {
    let (mut frames, mut events) = (SseFrames::default(), Vec::new());
    for chunk in chunks {
        frames.push(chunk);
        while let Some(frame) = frames.next_frame()? {
            events.push((frame.event.to_owned(), frame.data.to_owned()));
        }
    }
    Ok((events, frames.rest().to_vec()))
}

fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<(Vec<String>, Vec<u8>), Failure> {
    let (mut frames, mut lines) = (NdjsonFrames::default(), Vec::new());
    for chunk in chunks {
        frames.push(chunk);
        while let Some(line) = frames.next_line()? {
            lines.push(line.to_owned());
        }
    }
    Ok((lines, frames.rest().to_vec()))
}

fn data_of(body: &str) -> Vec<String> {
    events([body.as_bytes()]).unwrap().0.into_iter().map(|(_, data)| data).collect()
}

/// Cuts `body` at the given places, whatever their order.
fn cut<'a>(body: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(body.len() + 1)).collect();
    places.sort_unstable();
    let mut from = 0;
    let mut chunks: Vec<&[u8]> = Vec::new();
    for place in places {
        chunks.push(&body[from..place]);
        from = place;
    }
    chunks.push(&body[from..]);
    chunks
}

#[test]
fn every_line_end_ends_a_line() {
    for end in ["\n", "\r\n", "\r"] {
        assert_eq!(data_of(&["data: a", "", "data: b", "", ""].join(end)), ["a", "b"], "with {end:?}");
    }
}

#[test]
fn the_blank_after_the_colon_is_optional_and_only_one_is_taken() {
    assert_eq!(data_of("data:a\n\ndata: b\n\ndata:  c \n\n"), ["a", "b", " c "]);
}

#[test]
fn data_lines_of_one_event_are_joined_by_newlines() {
    assert_eq!(data_of("data: {\ndata: }\n\ndata\ndata: x\n\n"), ["{\n}", "\nx"]);
}

#[test]
fn comments_ids_padding_and_events_without_data_are_skipped() {
    let body = ": ping\n\nid: 7\nretry: 3\nevent: ping\n\n   \n\n\ndata:\n\nevent: e\n: in between\ndata: x\n\ndata: y\n\n";
    let (events, rest) = events([body.as_bytes()]).unwrap();
    assert_eq!(events, [("e".to_owned(), "x".to_owned()), (String::new(), "y".to_owned())]);
    assert!(rest.is_empty());
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    assert_eq!(data_of("\u{feff}data: a\n\n"), ["a"]);
}

#[test]
fn a_bare_error_after_the_events_stays_in_the_rest() {
    let body = "data: a\r\n\r\n{\n  \"error\": {\n    \"code\": 503\n  }\n}";
    let (events, rest) = events(body.as_bytes().chunks(3)).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(rest, b"{\n  \"error\": {\n    \"code\": 503\n  }\n}");
}

#[test]
fn an_unfinished_line_stays_in_the_rest() {
    assert_eq!(events([b"data: a\n\ndata: {\"b".as_slice()]).unwrap().1, b"data: {\"b");
    assert_eq!(lines([b"{}\n{\"b".as_slice()]).unwrap().1, b"{\"b");
}

#[test]
fn text_that_is_not_utf8_is_a_bad_response() {
    for body in [b"data: \xff\n\n".as_slice(), b"event: \xff\n\n"] {
        assert_eq!(events([body]).unwrap_err().reason, ErrorReason::VendorBadResponse);
    }
    assert_eq!(lines([b"\xff\n".as_slice()]).unwrap_err().reason, ErrorReason::VendorBadResponse);
}

#[test]
fn a_frame_above_the_limit_is_a_bad_response_before_all_of_it_arrived() {
    let chunk = vec![b'x'; 1 << 20];
    let endless = std::iter::once(b"data: ".as_slice()).chain(std::iter::repeat_n(chunk.as_slice(), 17));
    assert_eq!(events(endless.clone()).unwrap_err().reason, ErrorReason::VendorBadResponse);
    assert_eq!(lines(endless).unwrap_err().reason, ErrorReason::VendorBadResponse);

    let many_lines = std::iter::repeat_n([b"data: ".as_slice(), &chunk, b"\n"], 17).flatten();
    assert_eq!(events(many_lines).unwrap_err().reason, ErrorReason::VendorBadResponse);
}

#[test]
fn stray_lines_without_end_take_no_memory_without_end() {
    let mut frames = SseFrames::default();
    for _ in 0..100_000 {
        frames.push(b"what is this\n");
        assert_eq!(frames.next_frame().unwrap(), None);
    }
    assert!(frames.rest().len() <= STRAY_LIMIT);
}

#[test]
fn blank_lines_between_json_lines_are_skipped() {
    assert_eq!(
        lines([b"{\"a\":1}\r\n\r\n  \n {\"b\":2} \n".as_slice()]).unwrap().0,
        ["{\"a\":1}", "{\"b\":2}"]
    );
}

/// Bodies made of pieces that matter to a parser, whole and broken.
fn bodies() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "data: ",
        "data:",
        "data",
        "event: ",
        "event",
        ":",
        " ",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "x",
        "{\"a\":\"é\"}",
        "東京",
        "👩‍👩‍👧",
        "{\n",
        "}",
        "\u{feff}",
        "[DONE]",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn events_are_the_same_for_every_split(body in bodies(), places in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let whole = events([body.as_bytes()]).unwrap();
        prop_assert_eq!(&events(cut(body.as_bytes(), &places)).unwrap(), &whole);
        prop_assert_eq!(&events(body.as_bytes().chunks(1)).unwrap(), &whole);
    }

    #[test]
    fn lines_are_the_same_for_every_split(body in bodies(), places in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let whole = lines([body.as_bytes()]).unwrap();
        prop_assert_eq!(&lines(cut(body.as_bytes(), &places)).unwrap(), &whole);
        prop_assert_eq!(&lines(body.as_bytes().chunks(1)).unwrap(), &whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_fail_the_same_for_every_split(
        body in prop::collection::vec(any::<u8>(), 0..200),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let whole = events([body.as_slice()]).map_err(|failure| failure.reason);
        prop_assert_eq!(events(cut(&body, &places)).map_err(|failure| failure.reason), whole);
    }
}
