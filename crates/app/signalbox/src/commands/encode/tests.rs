use super::*;
use signalbox_kit::config::{Environment, Loaded, load_text};

const REQUEST: &str = r#"{
    "system": "Be brief.",
    "messages": [{"role": "ROLE_USER", "content": [{"text": "Hello"}]}],
    "maxOutputTokens": 20
}"#;

fn day() -> Day {
    Day::parse("2026-11-29").unwrap()
}

fn loaded(text: &str, env: &Environment) -> Loaded {
    load_text(text, None, env, day()).unwrap()
}

fn encode(env: &[(&str, &str)], config: &str, model: &str, request: &str, stream: bool) -> String {
    let env = Environment::new(env.iter().copied());
    let catalog = loaded(config, &env).catalog;
    let model = model.parse().unwrap();
    let call = encoded(&catalog, day(), &model, request, stream).unwrap();
    let place = Place::of(&catalog, &env, &model).unwrap();
    [shown(&place, &call)].into_iter().chain(notes(&call)).collect::<Vec<_>>().join("\n")
}

fn refused(model: &str, request: &str) -> String {
    let catalog = loaded("", &Environment::default()).catalog;
    encoded(&catalog, day(), &model.parse().unwrap(), request, false).unwrap_err().to_string()
}

#[test]
fn the_request_is_shown_with_its_address_headers_and_body() {
    let shown = encode(&[], "", "anthropic/claude-haiku-5-5", REQUEST, true);
    let (head, body) = shown.split_once("\n\n").unwrap();
    assert!(head.starts_with("POST https://api.anthropic.com/v1/messages\n"), "{head}");
    assert!(head.contains("\nx-api-key: ***") && head.contains("\nanthropic-version: "), "{head}");
    let body: serde_json::Value = serde_json::from_str(body.split("\n#").next().unwrap()).unwrap();
    assert_eq!(body["model"], "claude-haiku-5-5");
    assert_eq!((body["stream"].as_bool(), body["max_tokens"].as_u64()), (Some(true), Some(20)));
}

#[test]
fn no_key_is_ever_shown() {
    let keys = [
        ("OPENAI_API_KEY", "hunter2"),
        ("ANTHROPIC_API_KEY", "hunter2"),
        ("GEMINI_API_KEY", "hunter2"),
        ("XAI_API_KEY", "hunter2"),
        ("OPENAI_COMPATIBLE_URL", "http://llm.example:8080"),
        ("OPENAI_COMPATIBLE_API_KEY", "hunter2"),
    ];
    let models = [
        "openai/gpt-6-luna",
        "anthropic/claude-haiku-5-5",
        "gemini/gemini-3.5-flash-lite",
        "xai/grok-4.3",
        "local/any",
    ];
    for model in models {
        let shown = encode(&keys, "", model, REQUEST, false);
        assert!(shown.contains("***") && !shown.contains("hunter2"), "{shown}");
    }
    let env = Environment::new([("OPENAI_COMPATIBLE_URL", "http://user:hunter2@llm.example:8080")]);
    let refused = load_text("", None, &env, day()).unwrap_err().to_string();
    assert!(refused.contains("OPENAI_COMPATIBLE_URL") && !refused.contains("hunter2"), "{refused}");
}

#[test]
fn a_server_of_ones_own_is_called_where_it_is_and_without_a_key_it_does_not_have() {
    let shown = encode(&[("OLLAMA_HOST", "10.0.0.7")], "", "ollama/llama3.2:3b", REQUEST, false);
    assert!(shown.starts_with("POST http://10.0.0.7:11434/api/chat\n"), "{shown}");
    assert!(!shown.contains("***"), "{shown}");
}

#[test]
fn a_written_address_is_used_whether_or_not_the_vendor_has_a_key_here() {
    let config = "vendors: {openai: {base_url: 'https://proxy.example/openai/v1/'}}";
    for env in [[].as_slice(), &[("OPENAI_API_KEY", "k")]] {
        let shown = encode(env, config, "openai/gpt-6-luna", REQUEST, false);
        assert!(shown.starts_with("POST https://proxy.example/openai/v1/chat/completions\n"), "{shown}");
    }
}

#[test]
fn what_the_model_does_not_take_is_told() {
    let request = REQUEST.replace("20", "20, \"sampling\": {\"seed\": 7}");
    let shown = encode(&[], "", "anthropic/claude-haiku-5-5", &request, false);
    assert!(shown.contains("\n# adjusted: sampling.seed: "), "{shown}");
}

#[test]
fn a_field_that_is_wrong_is_named() {
    let message = refused("openai/gpt-6-luna", &REQUEST.replace("20", "-1"));
    assert!(message.starts_with("INVALID_REQUEST: max_output_tokens: "), "{message}");
    let message = refused("openai/gpt-6-luna", &REQUEST.replace("system", "sistem"));
    assert!(message.contains("sistem"), "{message}");
}

#[test]
fn an_unknown_model_is_refused_with_the_nearest_name() {
    let message = refused("openai/gpt-6-lune", REQUEST);
    assert!(message.contains("gpt-6-luna"), "{message}");
    let message = refused("opanai/gpt-6-luna", REQUEST);
    assert!(message.starts_with("UNKNOWN_MODEL: "), "{message}");
}
