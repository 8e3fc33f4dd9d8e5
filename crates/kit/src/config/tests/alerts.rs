use super::{errors::assert_problems, *};
use signalbox_anomaly::{Test, Timing, shipped};

fn webhook(text: &str) -> WebhookConfig {
    good(&format!("alerts: {{webhook: {text}}}")).config.alerts.webhook.clone().unwrap()
}

#[test]
fn without_a_word_all_rules_are_as_they_come() {
    let config = good("{}").config.alerts.clone();
    assert_eq!(config.rules(), shipped());
    assert_eq!(config.timing(), Timing::default());
}

#[test]
fn a_rule_is_changed_in_part_or_switched_off() {
    let text = "alerts:\n  close_after: 0s\n  rules:\n    failing-now: {min_calls: 5}\n    failure-rate-up: \
                {threshold: 1, window: 15m}\n    output-length-below-baseline: {enabled: false}\n";
    let config = good(text).config.alerts.clone();
    let rules = config.rules();
    let rule = |name: &str| rules.iter().find(|rule| rule.name == name).copied();
    let now = rule("failing-now").unwrap();
    assert_eq!((now.test, now.least_calls), (Test::Above(0.3), 5.0));
    assert_eq!(rule("failure-rate-up").unwrap().test, Test::Increase { by: 1.0, minutes: 15 });
    assert_eq!(rule("output-length-below-baseline"), None);
    assert_eq!(rules.len(), shipped().len() - 1);
    assert_eq!(config.timing().close_after, 0);
}

#[test]
fn what_no_rule_can_mean_is_refused() {
    assert_problems(
        "alerts:\n  rules:\n    failing-know: {threshold: 0.2}\n",
        &[
            "3:19: alerts.rules.failing-know: no rule `failing-know` comes with Signalbox (did you mean `failing-now`?)",
        ],
    );
    assert_problems(
        "alerts:\n  rules:\n    failing-now: {threshold: 30}\n",
        &["3:30: alerts.rules.failing-now.threshold: 30 is not a share above 0 and up to 1"],
    );
    assert_problems(
        "alerts:\n  rules:\n    failures-above-baseline: {threshold: 0.5}\n",
        &["3:42: alerts.rules.failures-above-baseline.threshold: 0.5 is not a multiple above 1"],
    );
    assert_problems(
        "alerts:\n  rules:\n    failing-now: {window: 10m}\n",
        &["3:27: alerts.rules.failing-now.window: `failing-now` has no window"],
    );
    assert_problems(
        "alerts:\n  rules:\n    failure-rate-up: {window: 90s}\n",
        &["3:31: alerts.rules.failure-rate-up.window: 90s is not a number of whole minutes"],
    );
    assert_problems("alerts: {interval: 5m}\n", &["1:20: alerts.interval: 5m is not from 1s to 1m"]);
    assert_problems("alerts: {history_days: 3}\n", &["1:24: alerts.history_days: 3 is out of range"]);
}

#[test]
fn a_webhooks_address_and_secret_may_be_in_the_environment_and_are_never_shown() {
    let env = Environment::new([("HOOK", "https://hooks.example.com/T0/s3cr3t?x=1"), ("SIGNING", " k3y ")]);
    let hook = webhook("{url: {env: HOOK}, secret: {env: SIGNING}}");
    assert_eq!(hook.address(&env).unwrap(), "https://hooks.example.com/T0/s3cr3t?x=1");
    let secret = hook.secret(&env).unwrap().unwrap();
    assert_eq!((secret.expose(), format!("{secret:?}").as_str()), ("k3y", "***"));
    assert_eq!(hook.address(&Environment::default()).unwrap_err(), "the environment has no HOOK");
    assert_eq!(hook.secret(&Environment::default()).unwrap_err(), "the environment has no SIGNING");
    let wrong = hook.address(&Environment::new([("HOOK", "s3cr3t")])).unwrap_err();
    assert_eq!(wrong, "HOOK does not hold an http or https address");
    assert_eq!(webhook("{url: 'http://127.0.0.1:9/x'}").secret(&env), Ok(None));
}

#[test]
fn a_secret_in_the_file_is_refused_and_not_repeated() {
    let told = bad("alerts: {webhook: {url: 'https://a.example', secret: s3cr3t}}");
    assert!(told.contains("alerts.webhook.secret") && !told.contains("s3cr3t"), "{told}");
    assert_problems(
        "alerts:\n  webhook: {url: 'https://a.example', timeout: 2m}\n",
        &["2:48: alerts.webhook.timeout: 2m is too long: at most 1m"],
    );
}
