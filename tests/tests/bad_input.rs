//! Requests that are wrong are refused with a code, a reason and the field; and nothing comes of them.

use serde_json::json;
use signalbox_api::v1::{
    Capability, EmbedRequest, GenerateRequest, GetModelRequest, GetVendorBatchRequest, Lane,
    ListModelsRequest, Part, Role, Sampling, ToolCall, part, provider_service_client::ProviderServiceClient,
    tool_choice::Mode as ToolMode,
};
use signalbox_testkit::{
    Client, Topology, World,
    ask::{Mode, ask, assistant, image_part, json_schema, request, text_part, tool, user},
    both_topologies,
    refusal::Refusal,
};
use tonic::Code;

/// A change that makes a good request a bad one, and what is told about it.
struct Case {
    spoil: fn(&mut GenerateRequest),
    code: Code,
    reason: &'static str,
    field: &'static str,
    /// Part of the message.
    hint: &'static str,
}

const fn invalid(field: &'static str, hint: &'static str, spoil: fn(&mut GenerateRequest)) -> Case {
    Case { spoil, code: Code::InvalidArgument, reason: "INVALID_REQUEST", field, hint }
}

const fn unknown(field: &'static str, hint: &'static str, spoil: fn(&mut GenerateRequest)) -> Case {
    Case { spoil, code: Code::NotFound, reason: "UNKNOWN_MODEL", field, hint }
}

const CASES: [Case; 19] = [
    unknown("model", "did you mean `openai/gpt-6-luna`", |bad| bad.model = "openai/gpt-6-lna".into()),
    unknown("model", "did you mean `fast`", |bad| bad.model = "fats".into()),
    unknown("model", "was shut down", |bad| bad.model = "openai/gpt-3.5-turbo".into()),
    unknown("task_type", "did you mean `headline`", |bad| bad.task_type = "headlin".into()),
    invalid("model", "economy", |bad| bad.model = "tier:gold".into()),
    invalid("messages", "at least one", |bad| bad.messages.clear()),
    invalid("messages", "must end with a user message", |bad| {
        bad.messages.push(assistant([text_part("Well,")]));
    }),
    invalid("messages[0].role", "ROLE_USER", |bad| bad.messages[0].role = 99),
    invalid("messages[0].content", "is empty", |bad| bad.messages[0].content.clear()),
    invalid("messages[0].content[0]", "has no text", |bad| bad.messages[0].content[0] = Part::default()),
    invalid("messages[1].content[0].tool_call.arguments", "JSON text of an object", |bad| {
        let call =
            ToolCall { id: "1".into(), name: "f".into(), arguments: "{oops".into(), ..Default::default() };
        let call = Part { part: Some(part::Part::ToolCall(call)), ..Default::default() };
        bad.messages.insert(0, user([text_part("Call it.")]));
        bad.messages.insert(1, assistant([call]));
    }),
    invalid("messages[0].content[0].image.media_type", "image/png", |bad| {
        bad.messages[0].content[0] = image_part(vec![1], "image/tiff");
    }),
    invalid("max_output_tokens", "-5", |bad| bad.max_output_tokens = Some(-5)),
    invalid("sampling.temperature", "0 to 2", |bad| {
        bad.sampling = Some(Sampling { temperature: Some(f64::NAN), ..Default::default() });
    }),
    invalid("response_format.json_schema.schema", "/properties/a/type", |bad| {
        bad.response_format = Some(json_schema(r#"{"type":"object","properties":{"a":{"type":"integr"}}}"#));
    }),
    invalid("tools[0].parameters_schema", "line 1", |bad| bad.tools = vec![tool("f", "{not json")]),
    invalid("tool_choice.tool_name", "not among the tools", |bad| {
        bad.tools = vec![tool("f", "")];
        let choice = bad.tool_choice.get_or_insert_default();
        choice.set_mode(ToolMode::Tool);
        choice.tool_name = "g".into();
    }),
    invalid("required_capabilities[0]", "99", |bad| bad.required_capabilities = vec![99]),
    invalid("timeout", "above 0", |bad| bad.timeout = Some(prost_types::Duration { seconds: -1, nanos: 0 })),
];

async fn what_is_wrong_is_told_with_its_field(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    for case in CASES {
        for mode in Mode::ALL {
            let mut bad = request("fast", "Hello?");
            (case.spoil)(&mut bad);
            let refusal = Refusal::from(ask(&mut client, mode, bad).await.unwrap_err());
            assert_eq!((refusal.code, refusal.reason), (case.code, case.reason), "{refusal:?}");
            assert!(refusal.fields.contains(&case.field.to_owned()), "{}: {refusal:?}", case.field);
            assert!(refusal.message.contains(case.hint), "{}: {refusal:?}", case.hint);
        }
    }
    assert_eq!(world.vendors.request_count(), 0, "no vendor is bothered");
    still_serves(&mut client).await;
}

async fn still_serves(client: &mut Client) {
    ask(client, Mode::Unary, request("fast", "Hello?")).await.unwrap();
}

async fn everything_wrong_is_told_at_once(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut bad = request("fast", "Hello?");
    bad.max_output_tokens = Some(0);
    bad.lane = 77;
    bad.messages[0].set_role(Role::Unspecified);
    let refusal = Refusal::from(ask(&mut world.client(), Mode::Unary, bad).await.unwrap_err());
    for field in ["max_output_tokens", "lane", "messages[0].role"] {
        assert!(refusal.fields.iter().any(|named| named == field), "{field}: {refusal:?}");
    }
}

async fn a_model_that_lacks_something_is_never_asked_for_it(topology: Topology) {
    let model = json!({"capabilities": ["text", "streaming"], "context_window": 1000, "prices": {"input": 1, "output": 1}});
    let world = World::start(topology, json!({"models": {"local/plain": model}})).await;
    let mut client = world.client();
    let mut with_tools = request("local/plain", "Hello?");
    with_tools.tools = vec![tool("f", "")];
    let mut with_schema = request("local/plain", "Hello?");
    with_schema.response_format = Some(json_schema("{}"));
    let mut with_wish = request("local/plain", "Hello?");
    with_wish.required_capabilities = vec![Capability::Reasoning as i32];
    for (lacking, wanted) in [("tools", with_tools), ("json_schema", with_schema), ("reasoning", with_wish)] {
        let refusal = Refusal::from(ask(&mut client, Mode::Unary, wanted).await.unwrap_err());
        assert_eq!((refusal.code, refusal.reason), (Code::FailedPrecondition, "NO_CAPABLE_MODEL"));
        assert!(refusal.message.contains(lacking), "{refusal:?}");
    }
    let too_long = request("local/plain", &"four".repeat(2000));
    let refusal = Refusal::from(ask(&mut client, Mode::Unary, too_long).await.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::InvalidArgument, "CONTEXT_LENGTH_EXCEEDED"));
    assert!(refusal.message.contains("1000"), "the window is named: {refusal:?}");
    assert_eq!(world.vendors.request_count(), 0);
    ask(&mut client, Mode::Unary, request("local/plain", "Hello?")).await.unwrap();
}

async fn a_parameter_that_the_model_refuses_is_dropped_and_said_so(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    for mode in Mode::ALL {
        let mut warm = request("anthropic/claude-haiku-5-5", "Hello?");
        warm.sampling = Some(Sampling { temperature: Some(0.3), ..Default::default() });
        let answer = ask(&mut world.client(), mode, warm).await.unwrap();
        let adjusted: Vec<&str> =
            answer.route.adjustments.iter().map(|change| change.field.as_str()).collect();
        assert_eq!(adjusted, ["sampling.temperature"], "{mode:?}");
    }
}

async fn a_large_request_is_served_and_a_larger_one_refused_with_the_limit(topology: Topology) {
    const LIMIT: usize = 32 * 1024 * 1024;
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    let image = |size: usize| {
        let mut look = request("openai/gpt-6-luna", "");
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.resize(size, 0);
        look.messages = vec![user([text_part("What is this?"), image_part(bytes, "image/png")])];
        look
    };
    let answer = ask(&mut client, Mode::Unary, image(20_000_000)).await.unwrap();
    assert!(answer.text().contains("20000000 bytes"), "{}", answer.text());
    for mode in Mode::ALL {
        let refusal = Refusal::from(ask(&mut client, mode, image(LIMIT)).await.unwrap_err());
        assert_eq!(refusal.reason, "REQUEST_TOO_LARGE", "{refusal:?}");
        assert!(refusal.message.contains(&LIMIT.to_string()), "{refusal:?}");
    }
    assert_eq!(world.vendors.request_count(), 1);
    still_serves(&mut client).await;
}

async fn what_cannot_be_done_as_asked_is_refused_and_nobody_is_called(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    let batch = GenerateRequest { lane: Lane::Batch as i32, ..request("fast", "Hello?") };
    let timeout = Some(prost_types::Duration { seconds: 0, nanos: 1 });
    let hurried = GenerateRequest { timeout, ..request("fast", "Hello?") };
    for (asked, code, reason) in [
        (batch, Code::InvalidArgument, "INVALID_REQUEST"),
        (hurried, Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
    ] {
        for mode in Mode::ALL {
            let refusal = Refusal::from(ask(&mut client, mode, asked.clone()).await.unwrap_err());
            assert_eq!((refusal.code, refusal.reason), (code, reason));
        }
    }
    let embed =
        EmbedRequest { inputs: vec!["Hello?".to_owned()], model: "fast".to_owned(), ..Default::default() };
    let refusal = Refusal::from(client.embed(embed).await.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::FailedPrecondition, "NO_CAPABLE_MODEL"));
    for (field, list) in [
        ("vendor", ListModelsRequest { vendor: "nobody".to_owned(), ..Default::default() }),
        ("capabilities[0]", ListModelsRequest { capabilities: vec![99], ..Default::default() }),
        ("page_token", ListModelsRequest { page_token: "?".to_owned(), ..Default::default() }),
        ("page_size", ListModelsRequest { page_size: -1, ..Default::default() }),
    ] {
        let refusal = Refusal::from(client.list_models(list).await.unwrap_err());
        assert_eq!((refusal.code, refusal.fields), (Code::InvalidArgument, vec![field.to_owned()]));
    }
    assert_eq!(world.vendors.request_count(), 0);
}

async fn a_method_that_is_not_served_says_so(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut vendors = ProviderServiceClient::new(world.signalbox.router.channel());
    let asked = vendors.get_vendor_batch(GetVendorBatchRequest::default()).await;
    let refusal = Refusal::from(asked.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::Unimplemented, "UNIMPLEMENTED"));
    let refusal = Refusal::from(world.client().get_model(GetModelRequest::default()).await.unwrap_err());
    assert_eq!((refusal.reason, refusal.fields), ("INVALID_REQUEST", vec!["name".to_owned()]));
}

both_topologies!(
    what_is_wrong_is_told_with_its_field,
    everything_wrong_is_told_at_once,
    a_model_that_lacks_something_is_never_asked_for_it,
    a_parameter_that_the_model_refuses_is_dropped_and_said_so,
    a_large_request_is_served_and_a_larger_one_refused_with_the_limit,
    what_cannot_be_done_as_asked_is_refused_and_nobody_is_called,
    a_method_that_is_not_served_says_so,
);
