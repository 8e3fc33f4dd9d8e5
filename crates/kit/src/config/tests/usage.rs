use super::{errors::assert_problems, *};

#[test]
fn without_a_word_accounts_are_kept_in_files_of_the_data_directory() {
    let config = good("{}").config;
    assert_eq!(config.usage, UsageConfig::default());
    let at = |variables: &[(&str, &str)]| data_dir(&Environment::new(variables.iter().copied()));
    assert_eq!(at(&[]), Path::new("signalbox-data"));
    assert_eq!(at(&[("XDG_DATA_HOME", "/home/me/data")]), Path::new("/home/me/data/signalbox"));
    let both = [("XDG_DATA_HOME", "/home/me/data"), ("SIGNALBOX_DATA_DIR", "/var/lib/signalbox")];
    assert_eq!(at(&both), Path::new("/var/lib/signalbox"));
}

#[test]
fn a_store_is_one_and_its_password_is_somewhere_else() {
    assert_problems(
        "usage:\n  store:\n    sqlite: {path: a.db}\n    clickhouse: {url: 'http://clickhouse:8123'}\n",
        &["3:5: usage.store: give either `sqlite` or `clickhouse`, not both"],
    );
    assert_problems(
        "usage:\n  store:\n    clickhouse: {url: clickhouse}\n",
        &["3:23: usage.store.clickhouse.url: not an http or https address"],
    );
    assert_problems(
        "usage:\n  store:\n    clickhouse: {url: 'http://a:8123', database: 'a b'}\n",
        &["3:50: usage.store.clickhouse.database: `a b` is not a name"],
    );
    assert_problems(
        "usage:\n  store:\n    clickhouse: {url: 'http://a:8123', password: {env: PASSWORD}}\n",
        &["3:17: usage.store.clickhouse: `password` needs a `user`"],
    );
    assert_problems(
        "usage:\n  store:\n    clickhouse: {url: 'http://a:8123', ca_file: /etc/ca.pem}\n",
        &[
            "3:49: usage.store.clickhouse.ca_file: the connection is encrypted only where `url` begins with https",
        ],
    );
    let secret = bad("usage: {store: {clickhouse: {url: 'http://a:8123', user: u, password: s3cr3t}}}");
    assert!(secret.contains("usage.store.clickhouse.password") && !secret.contains("s3cr3t"), "{secret}");
}

#[test]
fn what_is_kept_is_kept_on_the_disk() {
    for path in ["", " ", ":memory:", "file::memory:", "usage.db?mode=memory"] {
        let problem = format!("`{path}` is not the path of something on the disk");
        for (field, at) in [("usage.store.sqlite.path", "4:13"), ("budgets.store.sqlite.path", "4:13")] {
            let [section, store, kind, key] = field.split('.').collect::<Vec<_>>()[..] else {
                unreachable!()
            };
            let text = format!("{section}:\n  {store}:\n    {kind}:\n      {key}: '{path}'\n");
            assert_problems(&text, &[&format!("{at}: {field}: {problem}")]);
        }
        let text = format!("usage:\n  spool: {{dir: '{path}'}}\n");
        assert_problems(&text, &[&format!("2:16: usage.spool.dir: {problem}")]);
    }
    good("usage: {store: {sqlite: {path: 'data/usage v1.db'}}, spool: {dir: /var/spool}}");
}

#[test]
fn a_plan_without_limits_is_worth_a_warning() {
    let loaded = good("plans: {p: {}, q: {requests: 1}}");
    let warnings: Vec<_> = loaded.warning_lines().collect();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].ends_with("plans.p: includes nothing that is limited, so nothing is ever beyond it"),
        "{warnings:?}"
    );
}

#[test]
fn amounts_that_cannot_be_meant_are_refused() {
    assert_problems(
        "usage:\n  ingest: {batch_interval: 11s}\n",
        &["2:28: usage.ingest.batch_interval: 11s is too long: at most 10s"],
    );
    assert_problems(
        "usage:\n  ingest: {batch_events: 0}\n",
        &["2:26: usage.ingest.batch_events: 0 is out of range"],
    );
    assert_problems("usage:\n  spool: {alarm_at: 2}\n", &["2:21: usage.spool.alarm_at: 2 is out of range"]);
}

#[test]
fn a_tenants_plan_leads_somewhere() {
    assert_problems(
        "plans:\n  newsroom: {requests: 10}\ntenants:\n  sports: {plan: newsrom}\n",
        &["4:18: tenants.sports.plan: no plan `newsrom` under `plans` (did you mean `newsroom`?)"],
    );
    let loaded = good("plans: {newsroom: {cost_eur: 250.5}}\ntenants: {sports: {plan: newsroom}}\n");
    assert_eq!(loaded.config.plans["newsroom"].cost_eur, Some(Decimal(250_500_000)));
}

#[test]
fn the_stores_password_is_read_from_the_environment() {
    let text = "usage: {store: {clickhouse: {url: 'http://a:8123', user: u, password: {env: PASSWORD}}}}";
    let config = good(text).config.usage.store.clickhouse.clone().unwrap();
    let env = Environment::new([("PASSWORD", " s3cr3t ")]);
    assert_eq!(config.password(&env).unwrap().unwrap().expose(), "s3cr3t");
    assert_eq!(config.password(&Environment::default()).unwrap_err(), "the environment has no PASSWORD");
}
