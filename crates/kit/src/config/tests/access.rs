use super::{errors::assert_problems, *};

#[test]
fn without_a_word_keys_count_from_the_first_one_on_and_budgets_are_kept_in_a_file() {
    let config = good("{}").config;
    assert_eq!(config.access, AccessConfig::default());
    assert_eq!((config.access.authentication, config.access.reflection), (AuthenticationConfig::Auto, true));
    assert_eq!(config.budgets.store, BudgetStoreConfig::default());
    assert_eq!(config.budgets.lease_ttl, HumanDuration::secs(60));
    assert_eq!(config.budgets.max_slice_nano_eur(), 1_000_000_000);
    assert_eq!(config.redis.url, None);
}

#[test]
fn an_access_that_cannot_be_meant_is_refused() {
    assert_problems(
        "access:\n  authentication: none\n",
        &["2:19: access.authentication: `none` is not one of auto, required"],
    );
    assert_problems("access:\n  api_keys: {}\n", &["2:3: access"]);
    good("access: {authentication: required, reflection: false}");
}

#[test]
fn amounts_of_budgets_that_cannot_be_meant_are_refused() {
    assert_problems("budgets:\n  lease_ttl: 5s\n", &["2:14: budgets.lease_ttl: 5s is not from 15s to 1h"]);
    assert_problems(
        "budgets:\n  write_off_after: 30s\n",
        &["2:20: budgets.write_off_after: 30s is shorter than `lease_ttl`, 1m"],
    );
    assert_problems("budgets:\n  slice_share: 0\n", &["2:16: budgets.slice_share: 0 is out of range"]);
    assert_problems("budgets:\n  max_slice_eur: 0\n", &["2:18: budgets.max_slice_eur: must be above 0"]);
    assert_problems("budgets:\n  max_slice_eur: -1\n", &["2:18: budgets.max_slice_eur"]);
    assert_problems(
        "budgets:\n  retention_days: 61\n",
        &["2:19: budgets.retention_days: 61 is out of range"],
    );
    let kept = good("budgets: {retention_days: 62}").config.budgets.retention();
    assert_eq!(kept, Some(std::time::Duration::from_hours(62 * 24)));
    let budgets = good("budgets: {max_slice_eur: 2.5, slice_share: 0.05}").config.budgets.clone();
    assert_eq!(budgets.max_slice_nano_eur(), 2_500_000_000);
    assert_eq!(budgets.retention(), None);
}

#[test]
fn a_ledger_is_kept_in_one_place_and_its_password_in_another() {
    assert_problems(
        "budgets:\n  store:\n    sqlite: {path: a.db}\n    postgres: {url: 'postgres://me@host/db'}\n",
        &["3:5: budgets.store: give either `sqlite` or `postgres`, not both"],
    );
    for url in [
        "postgres://me:s3cr3t@host/db",
        "postgres://host/db?user=me&password=s3cr3t",
        "postgres://host/s3cr3t",
        "postgres://me@host?s3cr3t",
        "s3cr3t",
        "http://me@host/s3cr3t",
        "postgres://me@host:0/s3cr3t",
    ] {
        let problems = bad(&format!("budgets: {{store: {{postgres: {{url: '{url}'}}}}}}"));
        assert!(problems.contains("budgets.store.postgres.url: not an address of PostgreSQL"), "{problems}");
        assert!(!problems.contains("s3cr3t"), "{problems}");
    }
    for section in ["budgets", "batch"] {
        for (query, expected) in [
            ("sslmod=verify-full", "has an option that means nothing here (did you mean `sslmode`?)"),
            ("sslmode=verify", "has an `sslmode` that is none of disable, "),
            ("sslmode=require&sslrootcert=ca.crt", "has an `sslrootcert` that nobody looks at"),
        ] {
            let problems =
                bad(&format!("{section}: {{store: {{postgres: {{url: 'postgres://me@host/db?{query}'}}}}}}"));
            assert!(problems.contains(&format!("{section}.store.postgres.url: {expected}")), "{problems}");
        }
    }
    let text = "budgets: {store: {postgres: {url: 'postgres://me@host:5432/db?sslmode=require', password: {env: P}}}}";
    let postgres = good(text).config.budgets.store.postgres.clone().unwrap();
    let address = postgres.address(&Environment::new([("P", "s3:c/r@t")])).unwrap();
    assert_eq!(address.expose(), "postgres://me:s3%3Ac%2Fr%40t@host:5432/db?sslmode=require");
    let problem = postgres.address(&Environment::default()).unwrap_err();
    assert_eq!(problem, "password: the environment has no P");
}

#[test]
fn redis_is_asked_by_who_the_file_names_with_a_password_from_elsewhere() {
    for url in
        ["redis://:s3cr3t@host:6379", "s3cr3t", "http://s3cr3t", "redis://host/s3cr3t", "redis://host?s3cr3t"]
    {
        let problems = bad(&format!("redis: {{url: '{url}'}}"));
        assert!(problems.contains("redis.url: not the address of a Redis server"), "{problems}");
        assert!(!problems.contains("s3cr3t"), "{problems}");
    }
    assert_problems("redis:\n  url: redis://host\n  user: me\n", &["2:3: redis: `user` needs a `password`"]);
    assert!(warnings("redis: {password: {env: P}}").contains("redis: has no `url`"));
    let env = Environment::new([("P", "s3cr3t")]);
    let address = |text: &str| good(text).config.redis.address(&env).unwrap();
    let whole = address("redis: {url: 'rediss://host:6380/1', user: me, password: {env: P}}").unwrap();
    assert_eq!(whole.expose(), "rediss://me:s3cr3t@host:6380/1");
    let without_user = address("redis: {url: 'redis://host', password: {env: P}}").unwrap();
    assert_eq!(without_user.expose(), "redis://:s3cr3t@host");
    assert_eq!(address("redis: {url: 'redis://host'}").unwrap().expose(), "redis://host");
    assert_eq!(address("{}"), None);
}

#[test]
fn an_address_that_others_reach_is_warned_of_until_callers_are_authenticated() {
    let listen = "server: {listen: '0.0.0.0:50051'}\n";
    let warned = |text: &str, env: &Environment| {
        let loaded = load_with(text, env).unwrap();
        loaded.warning_lines().any(|line| line.contains("server.listen: 0.0.0.0:50051 can be reached"))
    };
    let key = Environment::new([("SIGNALBOX_ADMIN_KEY", "0123456789abcdef0123456789abcdef")]);
    assert!(warned(listen, &Environment::default()));
    assert!(!warned(listen, &key));
    assert!(!warned(&format!("{listen}access: {{authentication: required}}\n"), &Environment::default()));
}
