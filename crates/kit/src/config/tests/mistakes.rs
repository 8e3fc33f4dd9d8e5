//! What would only show at the start of a process, or never.

use super::{errors::assert_problems, *};

/// What is warned of in this environment.
fn warned(text: &str, env: &[(&str, &str)]) -> String {
    let loaded =
        load_with(text, &Environment::new(env.iter().copied())).unwrap_or_else(|errors| panic!("{errors}"));
    loaded.warning_lines().collect::<Vec<_>>().join("\n")
}

#[test]
fn a_list_of_prices_without_one_for_today_is_warned_of() {
    let with = |rows: &str| warnings(&format!("models: {{openai/gpt-6-luna: {{prices: {rows}}}}}"));
    let told = with("[{from: 2027-01-01, input: 1, output: 2}]");
    let expected = "signalbox.yaml:1:38: models[\"openai/gpt-6-luna\"].prices: has no row before 2027-01-01: what calls cost";
    assert!(told.contains(expected), "{told}");
    assert_eq!(with("[{from: 2027-01-01, input: 1, output: 2}, {input: 1, output: 3}]"), "");
    assert_eq!(with("{from: 2026-11-29, input: 1, output: 2}"), "");
}

#[test]
fn certificates_to_trust_are_refused_where_the_connection_stays_in_the_clear() {
    let clear = "the connection is encrypted only where `url` begins with rediss";
    assert_problems(
        "redis: {url: 'redis://r:6379', ca_file: /ca}\ncache: {store: {redis: {url: 'redis://r', ca_file: /ca}}}\n",
        &[&format!("1:41: redis.ca_file: {clear}"), &format!("2:52: cache.store.redis.ca_file: {clear}")],
    );
    assert_problems(
        "nats: {servers: ['tls://a:4222', 'nats://b:4222'], ca_file: /ca}",
        &[
            "1:61: nats.ca_file: the connection is surely encrypted only where each of `servers` begins with tls",
        ],
    );
    good("redis: {url: 'rediss://r:6379', ca_file: /ca}\nnats: {servers: ['tls://a:4222'], ca_file: /ca}");
}

#[test]
fn each_store_has_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().display();
    let problems = bad(&format!(
        "budgets: {{store: {{sqlite: {{path: {here}/one.db}}}}}}\nusage: {{store: {{sqlite: {{path: {here}/./one.db}}}}}}"
    ));
    assert!(problems.contains("1:34: budgets.store.sqlite.path: "), "{problems}");
    assert!(problems.contains("is the file of `usage.store`, too; each needs its own"), "{problems}");
    assert!(problems.contains("2:32: usage.store.sqlite.path: "), "{problems}");

    let env = Environment::new([("SIGNALBOX_DATA_DIR", here.to_string())]);
    let text = format!("batch: {{store: {{sqlite: {{path: {here}/usage.db}}}}}}");
    let problems = load_with(&text, &env).unwrap_err().to_string();
    assert!(
        problems.contains("batch.store.sqlite.path: ") && problems.contains("`usage.store`"),
        "{problems}"
    );
    let elsewhere = "usage: {store: {clickhouse: {url: 'http://c:8123'}}}";
    load_with(&format!("{text}\n{elsewhere}"), &env).unwrap();
}

#[test]
fn a_folder_in_the_place_of_a_file_is_refused_and_a_file_in_that_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (folder, file) = (folder.path().display(), file.display());
    for store in ["budgets", "batch", "usage"] {
        let problems = bad(&format!("{store}: {{store: {{sqlite: {{path: {folder}}}}}}}"));
        assert!(problems.contains(&format!("{store}.store.sqlite.path: {folder} is a folder")), "{problems}");
    }
    let problems = bad(&format!("usage: {{spool: {{dir: {file}}}}}"));
    assert!(problems.contains(&format!("usage.spool.dir: {file} is a file")), "{problems}");
    good(&format!("usage: {{spool: {{dir: {folder}}}, store: {{sqlite: {{path: {file}}}}}}}"));
}

#[test]
fn listeners_that_cannot_both_be_had_are_refused() {
    let text =
        |first: &str, second: &str| format!("server: {{listen: '{first}', metrics_listen: '{second}'}}");
    for (first, second) in [
        ("127.0.0.1:50051", "127.0.0.1:50051"),
        ("0.0.0.0:50051", "127.0.0.1:50051"),
        ("127.0.0.1:50051", "0.0.0.0:50051"),
        ("[::]:50051", "127.0.0.1:50051"),
    ] {
        let problems = bad(&text(first, second));
        assert!(
            problems.contains("server.metrics_listen: is taken by `listen`"),
            "{first} {second}: {problems}"
        );
    }
    for (first, second) in [
        ("0.0.0.0:50051", "127.0.0.1:50052"),
        ("0.0.0.0:50051", "[::1]:50051"),
        ("127.0.0.1:50051", "127.0.0.2:50051"),
        ("0.0.0.0:0", "127.0.0.1:0"),
    ] {
        good(&text(first, second));
    }
}

#[test]
fn a_path_where_grpc_is_spoken_is_refused() {
    let path = "has a path, and gRPC has none: write host and port alone";
    assert_problems(
        "peers: {adapter: ['http://h:50052/path']}\ntelemetry: {otlp_endpoint: 'http://h:4318/v1/traces'}\n",
        &[&format!("1:19: peers.adapter[0]: {path}"), &format!("2:28: telemetry.otlp_endpoint: {path}")],
    );
    good("peers: {adapter: ['http://h:50052/']}\ntelemetry: {otlp_endpoint: 'https://h/'}\n");
}

#[test]
fn copies_that_the_servers_of_nats_cannot_keep_are_warned_of() {
    let told = warnings("nats: {servers: ['nats://127.0.0.1:4222'], replicas: 3}");
    assert!(
        told.contains("nats.replicas: 3 copies need a cluster of as many servers, and `servers` names 1"),
        "{told}"
    );
    // A name may stand for all of a cluster's servers.
    assert_eq!(warnings("nats: {servers: ['nats://nats:4222'], replicas: 3}"), "");
    assert_eq!(warnings("nats: {servers: ['nats://127.0.0.1:4222'], replicas: 1}"), "");
}

#[test]
fn names_and_sizes_that_lead_nowhere_are_told() {
    assert_problems(
        "models: {openai/gpt-6-luna: {max_output_tokens: 0}}\nvendors: {'a b': {kind: openai, base_url: 'http://h'}}\n",
        &[
            "1:49: models[\"openai/gpt-6-luna\"].max_output_tokens: 0 leaves no room for an answer",
            "2:18: vendors[\"a b\"]: a vendor has a name without `/` and spaces",
        ],
    );
    let told = warnings("aliases: {premium: {targets: [openai/gpt-6-luna]}}");
    assert!(
        told.contains(
            "aliases.premium: is the name of a tier, too, which requests ask for as `tier:premium`"
        ),
        "{told}"
    );
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_and_not_repeated() {
    let env = |key: &'static str| Environment::new([("OPENAI_API_KEY", key)]);
    let problems = load_with("", &env("s3cr\n3t")).unwrap_err().to_string();
    let expected = "vendors.openai.api_key: the key in OPENAI_API_KEY holds a line break or another character that no header can carry";
    assert!(problems.contains(expected) && !problems.contains("s3cr"), "{problems}");
    load_with("", &env("s3cr3t\n")).unwrap();
    load_with("vendors: {openai: {simulate: true}}", &env("s3cr\n3t")).unwrap();
}

#[test]
fn a_variable_that_only_looks_like_our_own_is_told() {
    let told = warned("", &[("SIGNALBOX_ADMINKEY", "s3cr3t")]);
    let expected =
        "access: nothing reads SIGNALBOX_ADMINKEY in the environment (did you mean `SIGNALBOX_ADMIN_KEY`?)";
    assert!(told.contains(expected) && !told.contains("s3cr3t"), "{told}");
    for (found, meant) in [
        ("SIGNALBOX_CACHE_KEY", "SIGNALBOX_CACHE_SECRET"),
        ("SIGNALBOX_DATADIR", "SIGNALBOX_DATA_DIR"),
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        ("CLAUDE_API_KEY", "ANTHROPIC_API_KEY"),
        ("GROK_API_KEY", "XAI_API_KEY"),
    ] {
        let told = warned("", &[(found, "x")]);
        let expected = format!("nothing reads {found} in the environment (did you mean `{meant}`?)");
        assert!(told.contains(&expected) && told.lines().count() == 1, "{told}");
    }
    // What clients read, and what Kubernetes sets for each of its services.
    let others =
        ["SIGNALBOX_API_KEY", "SIGNALBOX_SERVER", "SIGNALBOX_CACHE_SERVICE_HOST", "SIGNALBOX_CACHE_PORT"];
    assert_eq!(warned("", &others.map(|name| (name, "x"))), "");
    assert_eq!(warned("", &[("SIGNALBOX_ADMINKEY", "x"), ("SIGNALBOX_ADMIN_KEY", "x")]), "");
}
