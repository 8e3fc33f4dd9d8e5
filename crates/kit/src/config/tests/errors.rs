use super::*;

/// Each line of `expected` begins one of the problems, in order, and there are no others.
#[track_caller]
pub(super) fn assert_problems(text: &str, expected: &[&str]) {
    let problems = bad(text);
    let lines: Vec<&str> = problems.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{problems}");
    for (line, start) in lines.iter().zip(expected) {
        let line = line.strip_prefix("signalbox.yaml:").unwrap_or(line);
        assert!(line.starts_with(start), "`{line}` does not begin with `{start}`");
    }
}

const MODEL: &str = "models:\n  openai/mine:\n    capabilities: [text]\n    context_window: 1000\n";

#[test]
fn an_unknown_field_is_told_with_its_place_and_the_nearest_name() {
    assert_problems(
        "alises:\n  x: 1\n",
        &["1:1: alises: unknown field (did you mean `aliases`?); known here: access, alerts, aliases, "],
    );
    assert_problems("server:\n  lisen: 1\n", &["2:3: server.lisen: unknown field (did you mean `listen`?)"]);
}

#[test]
fn several_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = "server:\n  listen: nowhere\n  max_message_bytes: 10\ntelemetry:\n  log_format: jason\nfailover:\n  max_switches: 1.5\n";
    assert_problems(
        text,
        &[
            "2:11: server.listen: `nowhere` is not an address with a port",
            "3:22: server.max_message_bytes: 10 is out of range",
            "5:15: telemetry.log_format: `jason` is not one of text, json (did you mean `json`?)",
            "7:17: failover.max_switches: `1.5` is not a whole number",
        ],
    );
}

#[test]
fn a_key_in_the_file_is_refused_with_an_explanation_and_not_repeated() {
    let text = "vendors:\n  openai:\n    kind: openai\n    api_key: sk-s3cr3t\n";
    assert_problems(text, &["4:14: vendors.openai.api_key: keys are never written in this file"]);
    for text in [
        text,
        "vendors: {openai: {api_key: {env: sk-s3cr3t}}}",
        "vendors: {openai: {base_url: 'https://user:sk-s3cr3t@example.com'}}",
        "vendors: {openai: {base_url: 'https://example.com?key=sk-s3cr3t'}}",
        "vendors: {openai: {base_url: 'sk-s3cr3t'}}",
    ] {
        assert!(!bad(text).contains("s3cr3t"), "{}", bad(text));
    }
}

#[test]
fn a_target_that_leads_nowhere_is_told_with_the_nearest_model_or_vendor() {
    assert_problems(
        "aliases:\n  mine:\n    targets:\n      - openai/gpt-6-lunar\n",
        &[
            "4:9: aliases.mine.targets[0]: no model `openai/gpt-6-lunar` under `models` (did you mean `openai/gpt-6-luna`?)",
        ],
    );
    assert_problems(
        "aliases:\n  mine: {targets: [opnai/gpt-6-luna, fast]}\n",
        &[
            "2:20: aliases.mine.targets[0]: no vendor `opnai` under `vendors` (did you mean `openai`?)",
            "2:38: aliases.mine.targets[1]: `fast` is not of the form vendor/model; an alias cannot lead to an alias",
        ],
    );
    assert_problems(
        "default_alias: fsat\n",
        &["1:16: default_alias: no alias `fsat` under `aliases` (did you mean `fast`?)"],
    );
    assert_problems(
        "task_types:\n  poem: {alias: creativ}\n",
        &["2:17: task_types.poem.alias: no alias `creativ`"],
    );
}

#[test]
fn an_empty_list_and_a_double_target_are_refused() {
    let empty = "1:38: models[\"openai/gpt-6-luna\"].prices: is an empty list";
    assert_problems("models: {openai/gpt-6-luna: {prices: []}}", &[empty]);
    assert_problems("aliases: {mine: {targets: []}}", &["1:27: aliases.mine.targets: is an empty list"]);
    assert_problems(
        "aliases: {mine: {targets: [openai/gpt-6-luna, openai/gpt-6-luna]}}",
        &["1:47: aliases.mine.targets[1]: `openai/gpt-6-luna` is listed twice"],
    );
}

#[test]
fn a_price_a_thousand_times_off_is_refused_with_its_line() {
    // Per token, per thousand tokens, and in thousandths, for a model whose price is known.
    for price in ["0.0001", "0.000001", "100", "100000"] {
        let text = format!(
            "models:\n  openai/gpt-6-luna:\n    prices:\n      - input: {price}\n        output: 0.5\n"
        );
        assert_problems(
            &text,
            &[&format!(
                "4:16: models[\"openai/gpt-6-luna\"].prices[0].input: {price} USD per million tokens is a thousand times off"
            )],
        );
    }
    let text = format!("{MODEL}    prices: {{input: 0.000002, output: 0.000008}}\n");
    assert_problems(
        &text,
        &["5:21: models[\"openai/mine\"].prices.input: ", "5:39: models[\"openai/mine\"].prices.output: "],
    );
    good(&format!("{MODEL}    prices: {{input: 2, output: 8}}\n"));
    good(&format!("{MODEL}    prices: {{input: 0, output: 0}}\n"));
}

#[test]
fn a_price_that_is_no_price_is_refused() {
    for wrong in ["-1", ".nan", "NaN", ".inf", "1e30", "0.0000001", "two"] {
        let text = format!("{MODEL}    prices: {{input: {wrong}, output: 1}}\n");
        assert_problems(
            &text,
            &[&format!("5:21: models[\"openai/mine\"].prices.input: `{wrong}` is not a number from 0 to")],
        );
    }
}

#[test]
fn absurd_values_are_refused() {
    let vendor = |inner: &str| format!("vendors:\n  openai: {{{inner}}}\n");
    assert_problems(
        &vendor("timeouts: {connect: 0s}"),
        &["2:32: vendors.openai.timeouts.connect: zero would never let anything finish"],
    );
    assert_problems(
        &vendor("timeouts: {connect: 5}"),
        &["2:32: vendors.openai.timeouts.connect: `5` is not a duration such as"],
    );
    assert_problems(
        &vendor("timeouts: {total: 1s}"),
        &[
            "2:22: vendors.openai.timeouts.connect: 5s is longer than `total`, 1s",
            "2:22: vendors.openai.timeouts.first_byte: 2m is longer",
            "2:22: vendors.openai.timeouts.idle: 1m is longer",
        ],
    );
    assert_problems(
        &vendor("max_concurrency: 0"),
        &["2:29: vendors.openai.max_concurrency: 0 is out of range: must be from 1 to"],
    );
    assert_problems(
        &vendor("rate_limit: {requests_per_minute: 0, tokens_per_minute: 5}"),
        &["2:46: vendors.openai.rate_limit.requests_per_minute: 0 is out of range: must be at least 1"],
    );
    assert_problems(
        &vendor("rate_limit: {requests: 5}"),
        &["2:25: vendors.openai.rate_limit.requests: unknown field; known here: concurrent_requests"],
    );
    assert_problems(&vendor("max_queue: -1"), &["2:23: vendors.openai.max_queue: -1 is out of range"]);
    assert_problems(
        &vendor("base_url: example.com"),
        &["2:22: vendors.openai.base_url: not an http or https address"],
    );
    assert_problems(
        "task_types: {poem: {alias: fast, temperature: .nan}}",
        &["1:47: task_types.poem.temperature: `.nan` is not a number"],
    );
    assert_problems(
        "task_types: {poem: {alias: fast, attempt_timeout: 2m, timeout: 1m}}",
        &["1:51: task_types.poem.attempt_timeout: 2m is longer than `timeout`, 1m"],
    );
    assert_problems(
        "exchange_rate: {usd_eur: 0, as_of: 2026-11-29}",
        &["1:26: exchange_rate.usd_eur: a dollar is worth"],
    );
    assert_problems(
        "exchange_rate: {usd_eur: 0.9, as_of: 2026-11-31}",
        &["1:38: exchange_rate.as_of: `2026-11-31` is not a date"],
    );
}

#[test]
fn a_step_needs_one_bound_and_rows_their_own_dates() {
    let text = format!("{MODEL}    prices: {{input: 1, output: 1, steps: [{{input: 2, output: 2}}]}}\n");
    assert_problems(
        &text,
        &["5:43: models[\"openai/mine\"].prices.steps[0]: needs exactly one of `above` and `at_or_above`"],
    );
    let text = format!("{MODEL}    prices: [{{input: 1, output: 1}}, {{input: 2, output: 2}}]\n");
    assert_problems(&text, &["5:37: models[\"openai/mine\"].prices[1]: a second row with the same `from`"]);
    let text = format!("{MODEL}    prices: {{input: 1, output: 1, batch_discount: 50}}\n");
    assert_problems(&text, &["5:51: models[\"openai/mine\"].prices.batch_discount: is a share of the price"]);
}

#[test]
fn a_model_must_have_a_known_vendor_capabilities_and_room_for_its_answers() {
    assert_problems(
        "models:\n  acme/x: {capabilities: [text], context_window: 10}\n",
        &["2:11: models[\"acme/x\"]: no vendor `acme`"],
    );
    assert_problems(
        "models:\n  openai/x: {capabilities: [txt], context_window: 10}\n",
        &["2:29: models[\"openai/x\"].capabilities[0]: `txt` is not one of text,"],
    );
    assert_problems(
        "models:\n  openai/x: {capabilities: [], context_window: 10, max_output_tokens: 11}\n",
        &[
            "2:28: models[\"openai/x\"].capabilities: is empty",
            "2:71: models[\"openai/x\"].max_output_tokens: 11 is more than its context window of 10",
        ],
    );
    assert_problems(
        "models:\n  openai/x: {tier: economy}\n",
        &[
            "2:13: models[\"openai/x\"]: `capabilities` is missing",
            "2:13: models[\"openai/x\"]: `context_window` is missing",
        ],
    );
}

#[test]
fn a_problem_is_one_line_whatever_the_file_holds() {
    assert_problems(
        "\"a\\nb\": 1\nextends: \"x\\r\\ny\"\n",
        &["1:1: [\"a\\nb\"]: unknown field", "2:10: extends: `x  y` is not one of default, none"],
    );
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_read() {
    good("\u{feff}default_alias: fast\r\naliases:\r\n  mine:\r\n    targets: [xai/grok-4.3]\r\n");
}

#[test]
fn a_key_written_twice_is_refused() {
    assert_problems("server: {}\nserver: {}\n", &["2:1: server: written twice; first on line 1"]);
}

#[test]
fn what_is_not_a_configuration_is_told_as_such() {
    assert_problems("server: [\n", &["1:9: not valid YAML: "]);
    assert_problems("- a\n- b\n", &["1:1: must be a mapping of sections"]);
    assert_problems("just text\n", &["1:1: must be a mapping of sections"]);
    assert_problems("a: 1\n---\nb: 2\n", &["2:1: a second document"]);
    assert_problems("server: 5\n", &["1:9: server: must be a mapping, not `5`"]);
    assert_problems(
        "aliases: {x: {targets: openai/gpt-6-luna}}\n",
        &["1:24: aliases.x.targets: must be a list, not `openai/gpt-6-luna`"],
    );
    let deep = "a: ".to_owned() + &"[".repeat(100) + &"]".repeat(100);
    assert!(bad(&deep).contains("levels deep"), "{}", bad(&deep));
}

#[test]
fn aliases_of_aliases_do_not_fill_the_memory() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("a{level}: &a{level} [{inner}]\n");
    }
    assert!(bad(&text).contains("aliases expand to too much"), "{}", bad(&text));
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_name() {
    let missing = Path::new("/nonexistent/signalbox.yaml");
    let errors = load(Some(missing), &Environment::default(), today()).unwrap_err();
    assert!(errors.to_string().starts_with("/nonexistent/signalbox.yaml:1:1: cannot be read: "), "{errors}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin1.yaml");
    std::fs::write(&path, b"a: \xe4\n").unwrap();
    let errors = load(Some(&path), &Environment::default(), today()).unwrap_err();
    assert!(errors.to_string().contains("is not UTF-8 text: byte 3 is wrong"), "{errors}");
}

#[test]
fn what_is_no_file_of_a_configuration_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let told = |path: &Path| load(Some(path), &Environment::default(), today()).unwrap_err().to_string();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [Path::new("/dev/zero"), &pipe, folder.path()] {
        assert!(told(path).ends_with(":1:1: is not a regular file"), "{}", told(path));
    }
    let file = folder.path().join("signalbox.yaml");
    std::fs::write(&file, " \n").unwrap();
    assert!(told(&file).ends_with(":1:1: is empty; write `{}` for the built-in defaults"), "{}", told(&file));
    std::fs::File::create(&file).unwrap().set_len(1 << 30).unwrap();
    assert!(told(&file).contains("has more than"), "{}", told(&file));
}

#[test]
fn a_key_file_that_has_no_end_is_a_warning() {
    let told = warnings("vendors: {openai: {api_key: {file: /dev/zero}}}");
    assert!(told.contains("no key: /dev/zero is not a regular file"), "{told}");
}

#[test]
fn a_log_level_that_is_none_is_told_with_its_line() {
    assert_problems(
        "telemetry:\n  log_level: inof\n",
        &[
            "2:14: telemetry.log_level: `inof` is not one of off, error, warn, info, debug, trace (did you mean `info`?)",
        ],
    );
    assert_problems("telemetry: {log_level: ''}\n", &["1:24: telemetry.log_level: is empty"]);
    good("telemetry: {log_level: 'info,signalbox_router=debug'}\n");
}

#[test]
fn a_port_that_nobody_can_listen_on_is_told_with_its_line() {
    for port in ["0", "65536", "99999999999"] {
        assert_problems(
            &format!("vendors:\n  openai: {{base_url: 'http://h:{port}/v1'}}\n"),
            &["2:22: vendors.openai.base_url: not an http or https address with a port from 1 to 65535"],
        );
        assert_problems(
            &format!("peers: {{adapter: ['http://h:{port}']}}\n"),
            &["1:19: peers.adapter[0]: not an http or https address with a port from 1 to 65535"],
        );
        bad(&format!("telemetry: {{otlp_endpoint: 'http://h:{port}'}}"));
    }
    assert_problems(
        "peers: {adapter: [http://h, 'ftp://h:1']}\n",
        &[
            "1:19: peers.adapter[0]: has no port from 1 to 65535",
            "1:29: peers.adapter[1]: not an http or https address",
        ],
    );
    good("peers: {adapter: ['http://adapter:50052', 'http://[::1]:50052']}\n");
    good("vendors: {openai: {base_url: 'https://example.com'}}");
}

#[test]
fn peers_are_reached_over_tls_exactly_where_there_is_mtls() {
    let mtls = "mtls: {certificate_file: /c/tls.crt, key_file: /c/tls.key, ca_file: /c/ca.crt}\n";
    good(&format!("{mtls}peers: {{adapter: ['https://adapter:50052']}}\n"));
    assert_problems(
        "peers: {adapter: ['https://adapter:50052']}\n",
        &["1:19: peers.adapter[0]: `https://adapter:50052`: is reached over TLS only where there is `mtls`"],
    );
    assert_problems(
        &format!("{mtls}peers: {{adapter: ['http://adapter:50052']}}\n"),
        &["2:19: peers.adapter[0]: `http://adapter:50052`: write https:// where there is `mtls`"],
    );
    assert_problems(
        &mtls.replace('}', ", trust_domain: Signal/Box}"),
        &[
            "1:94: mtls.trust_domain: a trust domain has lower-case letters, digits, dots, dashes and underscores",
        ],
    );
}

#[test]
fn a_name_that_nobody_can_ask_for_is_told_with_its_line() {
    let alias = |name: &str| format!("aliases:\n  \"{name}\": {{targets: [openai/gpt-6-luna]}}\n");
    for name in ["", "a/b", "tier:fast", "a:b"] {
        let told = bad(&alias(name));
        assert!(told.contains("signalbox.yaml:2:") && told.contains("without `/` and `:`"), "{told}");
    }
    for text in [
        alias("a\\nb"),
        "vendors: {\"a\\tb\": {kind: ollama}}".to_owned(),
        "task_types: {\"a\\0b\": {alias: fast}}".to_owned(),
        "tenants: {\"a\\eb\": {}}".to_owned(),
    ] {
        assert!(bad(&text).contains("has no control characters"), "{}", bad(&text));
    }
    assert!(bad("task_types: {'': {alias: fast}}").contains("a task type has a name"));
}

#[test]
fn a_shut_down_target_is_a_warning_with_what_to_use_instead() {
    let told = warnings("aliases: {old: {targets: [openai/gpt-4-turbo, openai/gpt-6-luna]}}");
    assert_eq!(
        told,
        "signalbox.yaml:1:27: aliases.old.targets[0]: `openai/gpt-4-turbo` was shut down on 2026-10-23 and is skipped; \
         its vendor names `openai/gpt-5.6-sol` instead"
    );
}

#[test]
fn what_works_but_deserves_a_look_is_a_warning() {
    let told = warnings(&format!("server: {{listen: '0.0.0.0:50051'}}\n{MODEL}exchange_rate: null\n"));
    assert!(told.contains("1:18: server.listen: 0.0.0.0:50051 can be reached from other machines"), "{told}");
    assert!(told.contains("models[\"openai/mine\"]: has no `prices`"), "{told}");
    assert!(told.contains("exchange_rate: is missing"), "{told}");
    let env = Environment::new([("OPENAI_API_KEY", "k")]);
    let text = "vendors: {xai: {max_queue: 1}}\naliases: {only: {targets: [xai/grok-4.3]}}";
    let told: Vec<_> = load_with(text, &env).unwrap().warning_lines().collect();
    assert_eq!(told[0], "signalbox.yaml:1:16: vendors.xai: is left out: the environment has no XAI_API_KEY");
    assert_eq!(told[1], "signalbox.yaml:2:17: aliases.only: none of its models is at a configured vendor");
}

#[test]
fn what_is_written_and_would_mean_nothing_is_refused() {
    for (text, expected) in [
        ("tenants: {'': {plan: x}}\n", "a tenant has an id"),
        ("peers: {adapter: []}\n", "peers.adapter: is empty: leave it out"),
        (
            "server: {internal_listen: '127.0.0.1:1'}\n",
            "server.internal_listen: roles have a listener of their own only",
        ),
    ] {
        assert!(bad(text).contains(expected), "{}", bad(text));
    }
}

#[test]
fn a_file_of_which_only_comments_are_left_is_taken_for_an_empty_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let of = |text: &str| {
        std::fs::write(file.path(), text).unwrap();
        load(Some(file.path()), &Environment::default(), today())
            .map(|_| ())
            .map_err(|errors| errors.to_string())
    };
    for text in ["", " \n", "# vendors: {}\n\n  # nothing\n", "---\n# nothing\n"] {
        assert!(of(text).unwrap_err().contains("is empty; write `{}`"), "{text:?}");
    }
    of("# all of it\n{}\n").unwrap();
}
