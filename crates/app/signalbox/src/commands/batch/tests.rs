use super::*;
use clap::Parser;
use std::io::Write as _;
use v1::{
    BatchItemError, BatchJob, BatchResult, BatchWindow, Cost, EmbedResponse, EmbeddingVector,
    GenerateResponse, Part, Route, batch_item::Request, batch_item_error::Kind, batch_job,
    batch_result::Outcome, batch_window, part,
};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: BatchArgs,
}

fn parsed(words: &[&str]) -> Action {
    let words = ["batch"].iter().chain(words);
    Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).args.action
}

fn submission(lines: &str, words: &[&str]) -> Result<Vec<v1::SubmitBatchJobRequest>, CommandError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(lines.as_bytes()).unwrap();
    let path = file.path().to_string_lossy().into_owned();
    let Action::Submit(submit) = parsed(&[&["submit", &*path], words].concat()) else { panic!() };
    submit.pieces()
}

const TWO: &str = r#"
{"itemId": "a1", "generate": {"model": "fast", "messages": [{"role": "ROLE_USER", "content": [{"text": "Hello"}]}]}}
{"embed": {"inputs": ["Hello"]}}
"#;

#[test]
fn a_file_becomes_a_job_whose_nameless_items_are_called_after_their_line() {
    let words =
        ["--tenant", "acme", "--id", "nightly", "--scene", "cms", "--reference", "r", "--within", "36h"];
    let pieces = submission(TWO, &words).unwrap();
    let [v1::SubmitBatchJobRequest { job: Some(job), items }] = &*pieces else { panic!("{pieces:?}") };
    assert_eq!(
        (&*job.job_id, &*job.tenant_id, &*job.scene, &*job.reference),
        ("nightly", "acme", "cms", "r")
    );
    assert_eq!(job.completion_window.unwrap().seconds, 36 * 3600);
    let ids: Vec<&str> = items.iter().map(|item| &*item.item_id).collect();
    assert_eq!(ids, ["a1", "line-3"]);
    assert!(matches!(items[1].request, Some(Request::Embed(_))));
    assert_eq!(submission(TWO, &[]).unwrap()[0].job, Some(BatchJob::default()));
    let marked = submission(&format!("\u{feff}{}", TWO.trim_start()), &["--within", "1h30m"]).unwrap();
    assert_eq!((&*marked[0].items[0].item_id, marked[0].items.len()), ("a1", 2));
    assert_eq!(marked[0].job.as_ref().unwrap().completion_window.unwrap().seconds, 5400);
}

#[test]
fn what_is_no_item_is_told_with_its_line_before_anybody_is_called() {
    let told = submission("{}\n{\"generat\": {}}\n", &[]).unwrap_err().to_string();
    assert!(told.starts_with("line 2 is not a BatchItem as JSON: ") && told.contains("generat"), "{told}");
    assert!(!told.contains("line 1") && told.contains("column"), "{told}");
    assert!(submission("\n", &[]).unwrap_err().to_string().ends_with("has no item"));
    let Action::Submit(missing) = parsed(&["submit", "/no/such/file"]) else { panic!() };
    assert!(missing.pieces().unwrap_err().to_string().starts_with("/no/such/file cannot be read"));
}

#[test]
fn a_large_job_travels_in_messages_that_a_server_takes() {
    let long = "x".repeat(400 << 10);
    let line = |index| format!("{{\"itemId\": \"i{index}\", \"embed\": {{\"inputs\": [\"{long}\"]}}}}\n");
    let pieces = submission(&(0..5).map(line).collect::<String>(), &["--tenant", "acme"]).unwrap();
    assert_eq!(pieces.iter().map(|piece| piece.items.len()).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(pieces.iter().filter(|piece| piece.job.is_some()).count(), 1);
    let ids: Vec<String> = pieces.iter().flat_map(|piece| &piece.items).map(|i| i.item_id.clone()).collect();
    assert_eq!(ids, ["i0", "i1", "i2", "i3", "i4"]);
}

#[test]
fn jobs_are_asked_for_by_how_far_they_are() {
    let Action::List(list) = parsed(&["list", "--tenant", "acme", "--state", "running,ended"]) else {
        panic!()
    };
    let request = list.request();
    let states = [batch_job::State::Running.into(), batch_job::State::Ended.into()];
    assert_eq!((&*request.tenant_id, &*request.states, list.limit.get()), ("acme", &states[..], 50));
    let Action::Results(results) = parsed(&["results", "nightly", "--follow", "--after", "t1"]) else {
        panic!()
    };
    let request = results.request();
    assert_eq!((&*request.job_id, &*request.resume_token, request.follow), ("nightly", "t1", true));
}

fn job() -> BatchJob {
    let counts =
        batch_job::Counts { total: 7, queued: 2, running: 2, succeeded: 2, failed: 1, ..Default::default() };
    BatchJob {
        job_id: "nightly".into(),
        tenant_id: "acme".into(),
        state: batch_job::State::Running.into(),
        counts: Some(counts),
        reserved: Some(Cost { nano_eur: 1_500_000_000, ..Default::default() }),
        cost: Some(Cost { nano_eur: 250_000_000, ..Default::default() }),
        create_time: Some(prost_types::Timestamp { seconds: 1_796_000_000, nanos: 0 }),
        windows: vec![BatchWindow {
            window_id: "w1".into(),
            vendor: "openai".into(),
            model: "gpt-6-luna".into(),
            state: batch_window::State::Submitted.into(),
            items: 2,
            vendor_batch_id: "batch_1".into(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

#[test]
fn a_job_is_shown_with_where_its_items_are() {
    let expected = "\
job        nightly
tenant     acme
state      running
items      7: 2 queued, 2 at vendors, 2 succeeded, 1 failed
cost       €0.25 of at most €1.50
handed in  2026-11-30 00:53:20 UTC

  WINDOW  MODEL              STATE      ITEMS  AT THE VENDOR
  w1      openai/gpt-6-luna  submitted      2  batch_1";
    assert_eq!(report::one(&job()), expected);
    let expected = "\
JOB      TENANT  STATE    ITEMS  DONE  GOOD   COST  HANDED IN (UTC)
nightly  acme    running      7     3     2  €0.25  2026-11-30 00:53:20";
    assert_eq!(report::all(&[job()]), expected);
    assert_eq!(report::all(&[]), "no job");
}

fn result(outcome: Outcome) -> String {
    report::result(&BatchResult { item_id: "a1".into(), outcome: Some(outcome), ..Default::default() })
}

#[test]
fn each_result_is_a_line() {
    let route = Route { vendor: "openai".into(), model: "gpt-6-luna".into(), ..Default::default() };
    let cost = Some(Cost { nano_eur: 172_000, ..Default::default() });
    let text = |text: &str| Part { part: Some(part::Part::Text(text.to_owned())), ..Default::default() };
    let answer = GenerateResponse {
        content: vec![text("The sky\nis blue.")],
        cost: cost.clone(),
        route: Some(route.clone()),
        ..Default::default()
    };
    assert_eq!(
        result(Outcome::Generate(answer.clone())),
        "a1  openai/gpt-6-luna  €0.000172  The sky is blue."
    );
    let long = GenerateResponse { content: vec![text(&"ä".repeat(300))], ..answer };
    assert!(result(Outcome::Generate(long)).ends_with(&format!("  {}…", "ä".repeat(100))));
    let vectors = EmbedResponse {
        embeddings: vec![EmbeddingVector::default(); 2],
        cost,
        route: Some(route),
        ..Default::default()
    };
    assert_eq!(result(Outcome::Embed(vectors)), "a1  openai/gpt-6-luna  €0.000172  2 vectors");
    let error = BatchItemError {
        kind: Kind::Expired.into(),
        reason: "DEADLINE_EXCEEDED".into(),
        message: "not answered in time".into(),
        failure: None,
    };
    assert_eq!(result(Outcome::Error(error)), "a1  EXPIRED  DEADLINE_EXCEEDED: not answered in time");
}
