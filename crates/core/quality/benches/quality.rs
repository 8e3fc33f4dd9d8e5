//! What the gate costs a request: `cargo bench -p signalbox-quality`.
#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use signalbox_quality::{Schemas, Validator, extract, gate};
use signalbox_types::{FinishReason, JsonText, Part, Prompt, ResponseFormat};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const SCHEMA: &str = r##"{"type":"object","required":["headline","lead","tags","related"],"additionalProperties":false,
"properties":{"headline":{"type":"string","maxLength":120},"lead":{"type":"string"},"tags":{"type":"array",
"items":{"type":"string","pattern":"^[a-z-]+$"},"maxItems":20},"related":{"type":"array","items":{"$ref":"#/$defs/link"}}},
"$defs":{"link":{"type":"object","required":["title","id"],"properties":{"title":{"type":"string"},
"id":{"type":"integer","minimum":1},"section":{"enum":["news","sport","culture","opinion"]}}}}}"##;

fn main() {
    let schema = match JsonText::parse(SCHEMA) {
        Ok(schema) => schema,
        Err(error) => return println!("{error}"),
    };
    let schemas = Schemas::new(256);
    for number in 0..255 {
        let _ =
            schemas.check(&JsonText::from(&serde_json::json!({ "maximum": number, "description": SCHEMA })));
    }
    let json = answer();
    let fenced = format!("Here is the article:\n```json\n{json}\n```\n");
    println!("schema of {} bytes, answer of {} bytes", SCHEMA.len(), json.len());
    measure("compile", || Validator::compile(&schema).is_ok());
    measure("check_schema, cached among 256", || schemas.check(&schema).is_ok());
    measure("extract, bare", || extract(&json).is_ok());
    measure("extract, fenced", || extract(&fenced).is_ok());
    let response_format = ResponseFormat::JsonSchema { name: "article".into(), schema, strict: true };
    let prompt = Prompt { response_format, ..Prompt::default() };
    let answer = |text: &str| vec![Part::text(text)];
    for (name, parts) in [
        ("gate, match", answer(&json)),
        ("gate, recovered", answer(&fenced)),
        ("gate, mismatch", answer(&json.replace("\"id\":", "\"no\":"))),
    ] {
        measure(name, || gate::check(&schemas, &prompt, &parts, FinishReason::Stop).passed());
    }
    measure("gate, free text", || {
        gate::check(&schemas, &Prompt::default(), &answer("Hello."), FinishReason::Stop).passed()
    });
}

fn answer() -> String {
    let related: Vec<_> = (1..=20)
        .map(|id| serde_json::json!({"title": "Rain returns to the coast", "id": id, "section": "news"}))
        .collect();
    let lead = "Showers are expected through the weekend. ".repeat(20);
    serde_json::json!({"headline": "Rain returns", "lead": lead, "tags": ["weather", "coast"], "related": related})
        .to_string()
}

/// Best of several rounds: what else the machine does only ever adds.
fn measure(name: &str, mut work: impl FnMut() -> bool) {
    const ROUNDS: u32 = 20;
    let calls = calls_in(Duration::from_millis(20), &mut work);
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(work());
        }
        start.elapsed() / calls
    });
    println!(
        "{name:32} {:>10.0?}  ({})",
        best.min().unwrap_or_default(),
        if work() { "ok" } else { "refused" }
    );
}

fn calls_in(time: Duration, work: &mut impl FnMut() -> bool) -> u32 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < time {
        black_box(work());
        calls += 1;
    }
    calls
}
