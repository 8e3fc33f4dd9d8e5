use super::*;
use clap::Parser;
use futures_util::stream;
use signalbox_api::{
    convert::duration_to_proto,
    status::{any, to_status_with},
};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;
use v1::stream_generate_response::Event;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: ChatArgs,
}

fn text(text: &str) -> Event {
    Event::TextDelta(v1::TextDelta { text: text.into() })
}

fn reasoning(text: &str) -> Event {
    Event::ReasoningDelta(v1::ReasoningDelta { text: text.into(), ..Default::default() })
}

fn attempt(vendor: &str, error_reason: &str, cause: v1::attempt::Cause) -> v1::Attempt {
    v1::Attempt {
        vendor: vendor.into(),
        model: "m".into(),
        error_reason: error_reason.into(),
        error_message: "overloaded".into(),
        cause: cause as i32,
        ..Default::default()
    }
}

fn done() -> v1::StreamDone {
    let route = v1::Route {
        vendor: "openai".into(),
        model: "gpt-6-luna".into(),
        served_model: "gpt-6-luna-2026-10-01".into(),
        latency: Some(duration_to_proto(Duration::from_millis(1234))),
        time_to_first_token: Some(duration_to_proto(Duration::from_millis(210))),
        ..Default::default()
    };
    let usage = v1::TokenUsage {
        input_tokens: 12,
        output_tokens: 40,
        source: v1::token_usage::Source::Vendor as i32,
        ..Default::default()
    };
    v1::StreamDone {
        finish_reason: v1::FinishReason::Length as i32,
        vendor_finish_reason: "max_tokens".into(),
        usage: Some(usage),
        cost: Some(v1::Cost { nano_eur: 172_000, ..Default::default() }),
        route: Some(route),
        ..Default::default()
    }
}

/// What is shown of a stream: answer, notes, and the command's outcome.
async fn watch(events: Vec<Result<Event, Status>>, json: bool) -> (String, String, Result<(), CommandError>) {
    let (mut answer, mut notes) = (Vec::new(), Vec::new());
    let mut screen = Screen::new(&mut answer, &mut notes, json);
    let events =
        events.into_iter().map(|event| event.map(|event| v1::StreamGenerateResponse { event: Some(event) }));
    let outcome = follow(stream::iter(events), &mut screen).await;
    (String::from_utf8(answer).unwrap(), String::from_utf8(notes).unwrap(), outcome)
}

#[tokio::test]
async fn an_answer_is_followed_by_who_gave_it_and_what_it_took() {
    let events = vec![Ok(text("Good ")), Ok(text("day")), Ok(Event::Done(done()))];
    let (answer, notes, outcome) = watch(events, false).await;
    assert_eq!(answer, "Good day\n");
    let expected = "
answered by  openai/gpt-6-luna (as gpt-6-luna-2026-10-01)
finish       length (the vendor says max_tokens)
tokens       12 input + 40 output (counted by the vendor)
cost         €0.000172
latency      1.23 s
first token  210 ms
";
    assert_eq!(notes, expected);
    assert_eq!(outcome, Ok(()));
}

#[tokio::test]
async fn a_simulated_answer_says_so_first() {
    let mut done = done();
    done.route.as_mut().unwrap().simulated = true;
    let (_, notes, _) = watch(vec![Ok(Event::Done(done))], false).await;
    assert!(notes.starts_with("\nSIMULATED    no model saw this"), "{notes}");
}

#[tokio::test]
async fn attempts_changes_and_an_unknown_cost_are_told() {
    let mut done = done();
    let route = done.route.as_mut().unwrap();
    route.attempts = vec![
        attempt("anthropic", "VENDOR_OVERLOADED", v1::attempt::Cause::FirstChoice),
        attempt("openai", "", v1::attempt::Cause::Fallback),
    ];
    route.adjustments = vec![v1::Adjustment { field: "stop".into(), description: "dropped".into() }];
    route.total_cost = Some(v1::Cost { unknown: true, ..Default::default() });
    let (_, notes, _) = watch(vec![Ok(Event::Done(done))], false).await;
    for line in [
        "\ncost         €0.000172, all attempts unknown\n",
        "\nattempts     1. anthropic/m (first choice) failed: VENDOR_OVERLOADED: overloaded\n",
        "\n             2. openai/m (fallback) answered\n",
        "\nadjusted     stop: dropped\n",
    ] {
        assert!(notes.contains(line), "{line} is missing in {notes}");
    }
}

#[tokio::test]
async fn reasoning_stays_out_of_the_answer() {
    let events = vec![Ok(reasoning("hmm")), Ok(text("yes\n")), Ok(Event::Done(done()))];
    let (answer, notes, _) = watch(events, false).await;
    assert_eq!(answer, "yes\n");
    assert!(notes.starts_with("hmm\n\n\nanswered by"), "{notes}");
}

#[tokio::test]
async fn a_stream_that_breaks_keeps_what_came_and_fails_with_every_attempt() {
    let route = v1::RouteFailure {
        attempts: vec![attempt("openai", "STREAM_TRUNCATED", v1::attempt::Cause::FirstChoice)],
        ..Default::default()
    };
    let failure = Failure::new(ErrorReason::StreamTruncated, "openai: cut");
    let status = to_status_with(&failure, vec![any(&route)]);
    let (answer, _, outcome) = watch(vec![Ok(text("half an")), Err(status)], false).await;
    assert_eq!(answer, "half an\n");
    let message = outcome.unwrap_err().to_string();
    assert!(message.starts_with("STREAM_TRUNCATED (UNAVAILABLE): openai: cut\n  1. openai/m"), "{message}");
}

#[tokio::test]
async fn a_stream_without_an_end_is_an_error() {
    let (_, _, outcome) = watch(vec![Ok(text("x"))], false).await;
    assert_eq!(outcome.unwrap_err().to_string(), "the stream ended without its last event");
}

/// What `head -c` leaves of a pipe.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_ends_the_stream_without_a_word() {
    for json in [false, true] {
        let mut notes = Vec::new();
        let mut screen = Screen::new(Closed, &mut notes, json);
        let event = v1::StreamGenerateResponse { event: Some(text("Good day")) };
        let events = stream::iter([Ok(event)]).chain(stream::pending());
        assert_eq!(follow(events, &mut screen).await, Ok(()));
        assert!(notes.is_empty());
    }
}

#[tokio::test]
async fn as_json_every_event_is_a_line_and_so_is_the_error() {
    let failure = Failure::new(ErrorReason::VendorTimeout, "slow");
    let status = to_status_with(&failure, Vec::new());
    let (answer, notes, outcome) = watch(vec![Ok(text("x")), Err(status)], true).await;
    let lines: Vec<serde_json::Value> =
        answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["textDelta"]["text"], "x");
    assert_eq!(lines[1]["error"]["reason"], "VENDOR_TIMEOUT");
    assert_eq!(notes, "");
    assert!(outcome.is_err());
}

#[test]
fn options_end_up_in_the_request() {
    let words = [
        "chat",
        "Hi",
        "-m",
        "fast",
        "--tenant",
        "t",
        "--max-output-tokens",
        "9",
        "--reasoning",
        "--locale",
        "it-IT",
    ];
    let args = Cli::try_parse_from(words).unwrap().args;
    let request = request(args).unwrap().request.unwrap();
    assert_eq!((request.model.as_str(), request.tenant_id.as_str()), ("fast", "t"));
    assert_eq!((request.max_output_tokens, request.include_reasoning), (Some(9), true));
    assert_eq!(request.locale, "it-IT");
    assert_eq!(request.messages[0].content[0].part, Some(v1::part::Part::Text("Hi".into())));
}
