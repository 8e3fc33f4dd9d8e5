//! A tenant's content policy holds for what is asked and what is answered, whatever the vendor.

use serde_json::{Value, json};
use signalbox_api::{
    status,
    v1::{
        self, ContentFinding, EmbedRequest, GenerateRequest, ToolCall,
        content_finding::{Action, Place},
        part,
    },
};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, Streamed, ask, assistant, json_schema, open, request, result_part, text_part, tool, user},
    both_topologies, eventually,
    refusal::Refusal,
};
use signalbox_vendorsim::{Fault, Match, Outcome, Simulator, Times, Vendor};
use tonic::Code;

const MODELS: [(&str, Vendor); 2] =
    [("openai/gpt-6-luna", Vendor::Openai), ("anthropic/claude-haiku-5-5", Vendor::Anthropic)];
const MODEL: &str = MODELS[0].0;

/// A policy of these rules for everybody.
fn policy(rules: Value) -> Value {
    json!({"content_policies": {"strict": {"rules": rules}}, "content_policy": "strict"})
}

fn finding(rule: &str, action: Action, place: Place, count: u32) -> ContentFinding {
    ContentFinding { rule: rule.to_owned(), action: action.into(), place: place.into(), count }
}

fn call_part(arguments: &str) -> v1::Part {
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "send".to_owned(),
        arguments: arguments.to_owned(),
        ..Default::default()
    };
    v1::Part { part: Some(part::Part::ToolCall(call)), ..Default::default() }
}

/// Whether any call to a vendor held a text.
fn was_sent(world: &World, vendor: Vendor, text: &str) -> bool {
    let calls = world.calls(vendor);
    assert!(!calls.is_empty(), "{vendor:?} was not called");
    calls.iter().any(|call| String::from_utf8_lossy(&call.body).contains(text))
}

async fn a_blocked_request_reaches_no_vendor_and_names_the_rule_but_not_the_text(topology: Topology) {
    let rules = json!([
        {"name": "notes", "words": ["memo"], "action": "flag"},
        {"name": "code-name", "words": ["Project Zephyr"], "action": "block"},
    ]);
    let world = World::start(topology, policy(rules)).await;
    for mode in Mode::ALL {
        let asked = request(MODEL, "A memo about PROJECT  zephyr, please.");
        let status = ask(&mut world.client(), mode, asked).await.unwrap_err();
        let found: ContentFinding = status::detail(&status).unwrap();
        assert_eq!(found, finding("notes", Action::Flag, Place::Input, 1));
        let refusal = Refusal::from(status);
        assert_eq!((refusal.code, refusal.reason), (Code::InvalidArgument, "CONTENT_POLICY"));
        let expected = "the content policy `strict` refuses the request: rule `code-name`";
        assert_eq!(refusal.message, expected);
        assert!(refusal.attempts.is_empty());
    }
    let embed = EmbedRequest { inputs: vec!["project zephyr".to_owned()], ..Default::default() };
    let refusal = Refusal::from(world.client().embed(embed).await.unwrap_err());
    assert_eq!(refusal.reason, "CONTENT_POLICY", "{refusal:?}");
    assert_eq!(world.vendors.request_count(), 0);
    let metrics = world.signalbox.metrics().await;
    let labels = [("policy", "strict"), ("rule", "code-name"), ("action", "block"), ("place", "input")];
    assert!((metrics.sum("signalbox_content_findings_total", &labels) - 3.0).abs() < f64::EPSILON);
}

async fn vendors_receive_the_redacted_request_and_the_caller_is_told(topology: Topology) {
    let rules = json!([{"name": "contacts", "pii": ["email", "iban"], "action": "redact", "on": ["input"]}]);
    let world = World::start(topology, policy(rules)).await;
    for (model, vendor) in MODELS {
        let call = ToolCall { id: "call_1".to_owned(), name: "send".to_owned(), ..Default::default() };
        let asked = GenerateRequest {
            model: model.to_owned(),
            system: "Answer as desk@example.com would.".to_owned(),
            messages: vec![
                user([text_part("Pay IT60 X054 2811 1010 0000 0123 456.")]),
                assistant([call_part(r#"{"to": "ann@example.com", "n": 1}"#)]),
                user([result_part(&call, r#"{"sent": "\nann@example.com"}"#), text_part("And now?")]),
            ],
            tools: vec![tool("send", r#"{"type": "object"}"#)],
            ..Default::default()
        };
        for mode in Mode::ALL {
            let answer = ask(&mut world.client(), mode, asked.clone()).await.unwrap();
            let found = finding("contacts", Action::Redact, Place::Input, 4);
            assert_eq!(answer.route.content_findings, [found], "{model}");
        }
        for secret in ["example.com", "X054"] {
            assert!(!was_sent(&world, vendor, secret), "{vendor:?} saw {secret}");
        }
        assert!(was_sent(&world, vendor, "[EMAIL] would") && was_sent(&world, vendor, "[IBAN]"));
    }
}

async fn embedding_inputs_are_redacted_too(topology: Topology) {
    let rules = json!([{"name": "contacts", "pii": ["email"], "action": "redact"}]);
    let world = World::start(topology, policy(rules)).await;
    let asked = EmbedRequest { inputs: vec!["ann@example.com".to_owned()], ..Default::default() };
    let answer = world.client().embed(asked).await.unwrap().into_inner();
    let found = finding("contacts", Action::Redact, Place::Input, 1);
    assert_eq!(answer.route.unwrap().content_findings, [found]);
    assert!(was_sent(&world, Vendor::Openai, "[EMAIL]"));
}

/// The simulated vendors repeat what was said, cut into pieces of four bytes.
async fn an_answer_is_redacted_alike_whole_and_streamed_wherever_it_is_cut(topology: Topology) {
    let rules = json!([
        {"name": "contacts", "pii": ["email", "credit_card"], "action": "redact", "on": ["output"]},
        {"name": "names", "words": ["Zoë Müller"], "action": "redact", "placeholder": "<N>", "on": ["output"]},
    ]);
    let world = World::start(topology, policy(rules)).await;
    for (model, vendor) in MODELS {
        for shift in 0..4 {
            let before = "-".repeat(shift);
            let said = format!("{before}> zoë müller: ann.lee@example.com, 4111 1111 1111 1111 end");
            for mode in Mode::ALL {
                let answer = ask(&mut world.client(), mode, request(model, &said)).await.unwrap();
                let expected = format!("\"{before}> <N>: [EMAIL], [CREDIT_CARD] end\"");
                assert!(answer.text().contains(&expected), "{model} {mode:?}: {}", answer.text());
                let found = [
                    finding("contacts", Action::Redact, Place::Output, 2),
                    finding("names", Action::Redact, Place::Output, 1),
                ];
                assert_eq!(answer.route.content_findings, found);
            }
        }
        assert!(was_sent(&world, vendor, "ann.lee@example.com"), "only answers are looked at");
    }
}

async fn a_blocked_answer_is_not_given_out_and_no_other_vendor_is_asked(topology: Topology) {
    let rules =
        json!([{"name": "code-name", "regex": "(?i)zephyr-[0-9]{4}", "action": "block", "on": ["output"]}]);
    let mut config = policy(rules);
    config["aliases"] = json!({"pair": {"targets": MODELS.map(|(model, _)| model)}});
    let world = World::start(topology, config).await;
    let asked = request("pair", "the word is ZEPHYR-2041, you see");
    let refusal = Refusal::from(ask(&mut world.client(), Mode::Unary, asked.clone()).await.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::InvalidArgument, "CONTENT_POLICY"), "{refusal:?}");
    assert_eq!(refusal.message, "the content policy `strict` refuses the answer: rule `code-name`");
    assert_eq!(refusal.attempts, ["openai: CONTENT_POLICY"]);

    let streamed = Streamed::read(open(&mut world.client(), asked).await.unwrap()).await;
    assert!(streamed.text().ends_with("the word is "), "{}", streamed.text());
    let status = streamed.end.unwrap_err();
    let found: ContentFinding = status::detail(&status).unwrap();
    assert_eq!(found, finding("code-name", Action::Block, Place::Output, 1));
    let refusal = Refusal::from(status);
    assert_eq!(
        (refusal.reason, refusal.attempts.as_slice()),
        ("CONTENT_POLICY", ["openai: CONTENT_POLICY".to_owned()].as_slice())
    );
    assert_eq!(world.calls(Vendor::Anthropic).len(), 0);
}

async fn a_stream_that_is_blocked_stops_the_vendor_call_and_is_accounted_for(topology: Topology) {
    let rules = json!([{"name": "code-name", "words": ["zephyr"], "action": "block", "on": ["output"]}]);
    let world = World::start(topology, policy(rules)).await;
    world.fault(Vendor::Openai, "trickle=20");
    let asked =
        GenerateRequest { max_output_tokens: Some(4_000), ..request(MODEL, "zephyr, tell a long story") };
    let streamed = Streamed::read(open(&mut world.client(), asked).await.unwrap()).await;
    assert!(!streamed.text().contains("zep"), "{}", streamed.text());
    assert_eq!(Refusal::from(streamed.end.unwrap_err()).reason, "CONTENT_POLICY");
    eventually("the vendor sees the caller go", || async {
        world.calls(Vendor::Openai).last().is_some_and(|call| call.outcome == Outcome::ClientGone)
    })
    .await;
    eventually("the call is counted as cancelled", || async {
        let metrics = world.signalbox.metrics().await;
        metrics.sum("signalbox_vendor_calls_total", &[("outcome", "cancelled")]) >= 1.0
    })
    .await;
}

async fn flags_change_nothing_and_are_told_in_the_route(topology: Topology) {
    let rules = json!([{"name": "weather", "words": ["storm"], "action": "flag"}]);
    let mut config = policy(rules);
    config["content_policy"] = Value::Null;
    config["tenants"] = json!({"watched": {"content_policy": "strict"}});
    let world = World::start(topology, config).await;
    for mode in Mode::ALL {
        let asked = request(MODEL, "A storm is a storm.");
        let watched = GenerateRequest { tenant_id: "watched".to_owned(), ..asked.clone() };
        let answer = ask(&mut world.operator(), mode, watched).await.unwrap();
        assert!(answer.text().contains("A storm is a storm."));
        let found = [
            finding("weather", Action::Flag, Place::Input, 2),
            finding("weather", Action::Flag, Place::Output, 2),
        ];
        assert_eq!(answer.route.content_findings, found);
        let other = ask(&mut world.client(), mode, asked).await.unwrap();
        assert!(other.route.content_findings.is_empty(), "other tenants have no policy");
    }
}

async fn tool_arguments_and_json_stay_valid_when_redacted(topology: Topology) {
    let rules = json!([{"name": "contacts", "pii": ["email"], "action": "redact", "on": ["output"]}]);
    let world = World::start(topology, policy(rules)).await;
    let schema = r#"{"type": "object", "required": ["to"], "additionalProperties": false,
        "properties": {"to": {"type": "string", "enum": ["\nann@example.com"]}}}"#;
    for (model, _) in MODELS {
        for mode in Mode::ALL {
            let asked =
                GenerateRequest { tools: vec![tool("send", schema)], ..request(model, "please send it") };
            let answer = ask(&mut world.client(), mode, asked).await.unwrap();
            let calls = answer.tool_calls();
            assert_eq!(calls.len(), 1, "{model} {mode:?}");
            let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
            assert_eq!(arguments, json!({"to": "\n[EMAIL]"}), "{model} {mode:?}");

            let schema = schema.replace("]}", r#", "\n[EMAIL]"]}"#);
            let format = Some(json_schema(&schema));
            let asked = GenerateRequest { response_format: format, ..request(model, "As JSON.") };
            let answer = ask(&mut world.client(), mode, asked).await.unwrap();
            let text: Value = serde_json::from_str(&answer.text()).unwrap();
            assert_eq!(text, json!({"to": "\n[EMAIL]"}), "{model} {mode:?}");
        }
    }
}

async fn json_that_a_redaction_would_break_is_refused(topology: Topology) {
    let rules = json!([{"name": "contacts", "pii": ["email"], "action": "redact", "on": ["output"]}]);
    let world = World::start(topology, policy(rules)).await;
    let in_value = r#"{"type": "object", "additionalProperties": false, "required": ["to"],
        "properties": {"to": {"type": "string", "enum": ["ann@example.com"]}}}"#;
    let in_name = r#"{"type": "object", "additionalProperties": false, "required": ["ann@example.com"],
        "properties": {"ann@example.com": {"type": "string", "enum": ["x"]}}}"#;
    for schema in [in_value, in_name] {
        for mode in Mode::ALL {
            let format = Some(json_schema(schema));
            let asked = GenerateRequest { response_format: format, ..request(MODEL, "As JSON.") };
            let refusal = Refusal::from(ask(&mut world.client(), mode, asked).await.unwrap_err());
            assert_eq!(refusal.reason, "CONTENT_POLICY", "{mode:?} {refusal:?}");
            assert!(refusal.message.contains("what rule `contacts` redacts"), "{refusal:?}");
        }
    }
}

async fn what_is_blocked_is_refused_as_such_though_it_fails_its_schema_too(topology: Topology) {
    let rules = json!([{"name": "code-name", "words": ["zephyr"], "action": "block", "on": ["output"]}]);
    let mut config = policy(rules);
    config["aliases"] = json!({"pair": {"targets": MODELS.map(|(model, _)| model)}});
    let world = World::start(topology, config).await;
    let schema = r#"{"type": "object", "required": ["to"], "additionalProperties": false,
        "properties": {"to": {"type": "string", "enum": ["zephyr and a long text that is cut"]}}}"#;
    for mode in Mode::ALL {
        let asked = GenerateRequest {
            response_format: Some(json_schema(schema)),
            max_output_tokens: Some(6),
            ..request("pair", "As JSON.")
        };
        let refusal = Refusal::from(ask(&mut world.client(), mode, asked).await.unwrap_err());
        assert_eq!(refusal.attempts, ["openai: CONTENT_POLICY"], "{mode:?} {refusal:?}");
    }
}

/// The simulated vendor repeats the credentials in its error.
async fn what_vendors_say_of_failures_is_looked_at_too(topology: Topology) {
    for (action, expected) in
        [("redact", "openai: [REDACTED] authorization"), ("block", "withheld by the content policy")]
    {
        let rules = json!([{"name": "echo", "words": ["you sent"], "action": action, "on": ["output"]}]);
        let world = World::start(topology, policy(rules)).await;
        world.fault(Vendor::Openai, "status=400,echo");
        for mode in Mode::ALL {
            let status = ask(&mut world.client(), mode, request(MODEL, "hello")).await.unwrap_err();
            assert!(status.message().starts_with(expected), "{status:?}");
            assert!(!String::from_utf8_lossy(status.details()).contains("You sent"), "{status:?}");
        }
    }
}

async fn what_would_be_refused_is_noted_where_a_request_is_only_explained(topology: Topology) {
    let rules = json!([{"name": "code-name", "words": ["zephyr"], "action": "block"}]);
    let world = World::start(topology, policy(rules)).await;
    let note = "the content policy `strict` would refuse this: rule `code-name`".to_owned();
    for (said, noted) in [("Zephyr?", true), ("hello", false)] {
        let request = Some(request(MODEL, said));
        let explain = v1::ExplainRouteRequest { request: request.clone(), ..Default::default() };
        let explained = world.client().explain_route(explain).await.unwrap().into_inner();
        assert_eq!(explained.decision.unwrap().notes.contains(&note), noted);
        let estimate = v1::EstimateCostRequest { request };
        let estimated = world.client().estimate_cost(estimate).await.unwrap().into_inner();
        assert_eq!(estimated.notes.contains(&note), noted);
    }
    assert_eq!(world.vendors.request_count(), 0);
}

async fn a_moderation_endpoint_that_fails_in_a_row_is_left_alone(topology: Topology) {
    let (world, endpoint) = moderated(topology, json!({"on_error": "allow", "on": ["input"]})).await;
    endpoint.set_fault(Match::default(), Fault::parse("status=500").unwrap(), Times::Always);
    for _ in 0..8 {
        ask(&mut world.client(), Mode::Unary, request(MODEL, "hello")).await.unwrap();
    }
    assert_eq!(endpoint.request_count(), 5);
    let metrics = world.signalbox.metrics().await;
    assert!(metrics.sum("signalbox_moderation_failures_total", &[("policy", "judged")]) >= 8.0);
}

/// A simulator of its own stands for the moderation endpoint.
async fn moderated(topology: Topology, moderation: Value) -> (World, Simulator) {
    let endpoint = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
    let mut config = json!({"content_policies": {"judged": {"moderation": {
        "url": endpoint.base_url("openai"), "api_key": {"env": "OPENAI_API_KEY"}, "timeout": "5s",
    }}}, "content_policy": "judged"});
    let settings = config["content_policies"]["judged"]["moderation"].as_object_mut().unwrap();
    settings.extend(moderation.as_object().unwrap().clone());
    (World::start(topology, config).await, endpoint)
}

async fn a_moderation_endpoint_judges_requests_before_a_vendor_sees_them(topology: Topology) {
    let (world, endpoint) =
        moderated(topology, json!({"on": ["input"], "categories": {"violence": 0.5}})).await;
    for mode in Mode::ALL {
        let refusal = Refusal::from(
            ask(&mut world.client(), mode, request(MODEL, "moderate:violence")).await.unwrap_err(),
        );
        assert_eq!((refusal.code, refusal.reason), (Code::InvalidArgument, "CONTENT_POLICY"));
        assert_eq!(refusal.message, "the content policy `judged` refuses the request: rule `moderation`");
    }
    assert_eq!(world.vendors.request_count(), 0);
    for mode in Mode::ALL {
        let answer = ask(&mut world.client(), mode, request(MODEL, "moderate:hate")).await.unwrap();
        assert!(answer.route.content_findings.is_empty(), "only the categories that are named count");
    }
    assert_eq!(endpoint.request_count(), 4);
}

async fn a_moderation_endpoint_judges_answers_before_any_of_them_is_given_out(topology: Topology) {
    let (world, _endpoint) = moderated(topology, json!({"on": ["output"]})).await;
    let asked = request(MODEL, "moderate:hate");
    let refusal = Refusal::from(ask(&mut world.client(), Mode::Unary, asked.clone()).await.unwrap_err());
    assert_eq!((refusal.reason, refusal.attempts.len()), ("CONTENT_POLICY", 1));
    let streamed = Streamed::read(open(&mut world.client(), asked).await.unwrap()).await;
    assert_eq!(streamed.text(), "");
    assert_eq!(Refusal::from(streamed.end.unwrap_err()).reason, "CONTENT_POLICY");
    for mode in Mode::ALL {
        let answer = ask(&mut world.client(), mode, request(MODEL, "hello")).await.unwrap();
        assert!(answer.text().contains("hello"), "{mode:?}");
    }
}

async fn a_moderation_endpoint_may_only_flag(topology: Topology) {
    let (world, _endpoint) = moderated(topology, json!({"action": "flag"})).await;
    for mode in Mode::ALL {
        let answer = ask(&mut world.client(), mode, request(MODEL, "moderate:hate")).await.unwrap();
        let found = [Place::Input, Place::Output].map(|place| finding("moderation", Action::Flag, place, 1));
        assert_eq!(answer.route.content_findings, found, "{mode:?}");
    }
}

async fn a_moderation_endpoint_that_fails_stops_requests_or_lets_them_through(topology: Topology) {
    let (world, endpoint) = moderated(topology, json!({"on_error": "block"})).await;
    endpoint.set_fault(Match::default(), Fault::parse("status=500").unwrap(), Times::Always);
    for mode in Mode::ALL {
        let refusal =
            Refusal::from(ask(&mut world.client(), mode, request(MODEL, "hello")).await.unwrap_err());
        assert_eq!((refusal.code, refusal.reason), (Code::Unavailable, "UNAVAILABLE"), "{refusal:?}");
        assert!(refusal.message.contains("`judged` did not judge: it answers 500"), "{refusal:?}");
    }
    assert_eq!(world.vendors.request_count(), 0);

    let (world, endpoint) = moderated(topology, json!({"on_error": "allow"})).await;
    endpoint.shutdown().await;
    for mode in Mode::ALL {
        let answer = ask(&mut world.client(), mode, request(MODEL, "moderate:hate")).await.unwrap();
        assert!(answer.route.content_findings.is_empty());
    }
    let metrics = world.signalbox.metrics().await;
    assert!(metrics.sum("signalbox_moderation_failures_total", &[("policy", "judged")]) >= 4.0);
}

both_topologies!(
    a_blocked_request_reaches_no_vendor_and_names_the_rule_but_not_the_text,
    vendors_receive_the_redacted_request_and_the_caller_is_told,
    embedding_inputs_are_redacted_too,
    an_answer_is_redacted_alike_whole_and_streamed_wherever_it_is_cut,
    a_blocked_answer_is_not_given_out_and_no_other_vendor_is_asked,
    a_stream_that_is_blocked_stops_the_vendor_call_and_is_accounted_for,
    flags_change_nothing_and_are_told_in_the_route,
    tool_arguments_and_json_stay_valid_when_redacted,
    json_that_a_redaction_would_break_is_refused,
    what_is_blocked_is_refused_as_such_though_it_fails_its_schema_too,
    what_vendors_say_of_failures_is_looked_at_too,
    what_would_be_refused_is_noted_where_a_request_is_only_explained,
    a_moderation_endpoint_that_fails_in_a_row_is_left_alone,
    a_moderation_endpoint_judges_requests_before_a_vendor_sees_them,
    a_moderation_endpoint_judges_answers_before_any_of_them_is_given_out,
    a_moderation_endpoint_may_only_flag,
    a_moderation_endpoint_that_fails_stops_requests_or_lets_them_through,
);
