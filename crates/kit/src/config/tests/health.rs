use super::{errors::assert_problems, *};
use std::io::Write as _;

#[test]
fn heartbeats_are_on_and_cheap_unless_said_otherwise() {
    let heartbeat = good("{}").config.heartbeat.clone();
    assert!(heartbeat.enabled);
    assert_eq!((heartbeat.interval, heartbeat.max_output_tokens), (HumanDuration::secs(30), 1));
}

#[test]
fn heartbeats_that_cannot_be_meant_are_refused() {
    assert_problems(
        "heartbeat:\n  interval: 10ms\n  max_output_tokens: 0\n",
        &["3:22: heartbeat.max_output_tokens: 0 is out of range"],
    );
    assert_problems(
        "heartbeat:\n  interval: 10ms\n",
        &["2:13: heartbeat.interval: 10ms is too often: at least 1s"],
    );
    assert_problems(
        "heartbeat:\n  interval: 5s\n  timeout: 6s\n",
        &["3:12: heartbeat.timeout: 6s is longer than `interval`, 5s"],
    );
    assert_problems(
        "vendors:\n  openai:\n    heartbeat:\n      model: gpt-6-lunar\n",
        &["4:14: vendors.openai.heartbeat.model: no model `openai/gpt-6-lunar` under `models` (did you mean"],
    );
    good("vendors: {local: {heartbeat: {model: whatever}}, openai: {heartbeat: {model: gpt-6-luna}}}");
}

#[test]
fn a_nats_address_with_a_password_is_refused_and_not_repeated() {
    for server in ["nats://router:s3cr3t@host:4222", "s3cr3t", "http://host?s3cr3t", "nats://host:0/s3cr3t"] {
        let text = format!("nats: {{servers: ['{server}']}}");
        let problems = bad(&text);
        assert!(problems.contains("nats.servers[0]: not the address of a NATS server"), "{problems}");
        assert!(!problems.contains("s3cr3t"), "{problems}");
    }
    good("nats: {servers: ['nats://10.0.0.1:4222', 'tls://nats.example.com', 'nats://[::1]:4222']}");
}

#[test]
fn user_and_password_go_together_and_exclude_a_credentials_file() {
    assert_problems("nats:\n  user: router\n", &["2:3: nats: `user` needs a `password`"]);
    assert_problems("nats:\n  password: {env: PASS}\n", &["2:3: nats: `password` needs a `user`"]);
    assert_problems(
        "nats:\n  user: router\n  password: {env: s3cr3t}\n  credentials_file: x\n",
        &[
            "3:19: nats.password.env: must be the name of an environment variable",
            "4:21: nats.credentials_file: give either",
        ],
    );
    assert!(warnings("nats: {ca_file: x}").contains("nats: has no `servers`"));
}

#[test]
fn a_password_is_read_from_where_it_is_and_never_shown() {
    let login = |text: &str, env: &[(&str, &str)]| {
        let env = Environment::new(env.iter().copied());
        load_with(text, &env).unwrap().config.nats.login(&env)
    };
    let text = "nats: {servers: ['nats://host'], user: router, password: {env: [A, B]}}";
    let found = login(text, &[("B", "s3cr3t")]).unwrap().unwrap();
    assert_eq!((found.0.as_str(), found.1.expose()), ("router", "s3cr3t"));
    assert!(!format!("{found:?}").contains("s3cr3t"));
    assert_eq!(login(text, &[]).unwrap_err(), "the environment has no A or B");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"s3cr3t\n").unwrap();
    let text = format!("nats: {{user: router, password: {{file: {}}}}}", file.path().display());
    assert_eq!(login(&text, &[]).unwrap().unwrap().1.expose(), "s3cr3t");
    assert_eq!(login("{}", &[]).unwrap(), None);
}
