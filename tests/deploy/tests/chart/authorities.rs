//! Certificates to trust that nothing is checked against would be a comfort without a reason.

use super::{clashes::assert_told, vendors::split_takes};

const CA: &str = r#"{"existingSecret":{"name":"roots","key":"ca.crt"}}"#;

#[test]
fn authorities_are_refused_where_no_certificate_is_looked_at() {
    let given = |at: &str| format!("{at}.ca={CA}");
    let stores = ["postgresql", "batch.postgresql", "redis", "cache.redis", "nats"].map(given);
    assert_told(
        "split",
        &[
            (&*stores[0], "postgresql.ca: has no effect unless postgresql.url has sslmode=verify-full"),
            (&*stores[1], "batch.postgresql.ca: has no effect unless batch.postgresql.url has sslmode"),
            (&*stores[2], "redis.ca: has no effect unless redis.url begins with rediss"),
            (&*stores[3], "cache.redis.ca: has no effect unless cache.redis.url begins with rediss"),
            (&*stores[4], "nats.ca: has no effect unless each of nats.servers begins with tls"),
        ],
    );
    let half = [
        (r#"nats.servers=["tls://a","nats://b"]"#, "nats.ca: has no effect unless each"),
        (r#"postgresql.url="postgres://me@pg/db?sslmode=require""#, "postgresql.ca: has no effect unless"),
        (r#"redis.url="""#, "redis.ca: has no effect unless"),
        (&*stores[0], "postgresql.ca"),
        (&*stores[2], "redis.ca"),
        (&*stores[4], "nats.ca"),
    ];
    assert_told("split", &half);
}

#[test]
fn an_authority_comes_from_one_place() {
    let both = r#"{"existingSecret":{"name":"a"},"existingConfigMap":{"name":"b"}}"#;
    let both = ["redis", "clickhouse"].map(|at| format!("{at}.ca={both}"));
    assert_told(
        "production",
        &[
            (&*both[0], "redis.ca: give either existingSecret or existingConfigMap, not both"),
            (&*both[1], "clickhouse.ca: give either existingSecret or existingConfigMap, not both"),
        ],
    );
}

#[test]
fn what_postgresql_would_ignore_in_an_address_is_refused() {
    assert_told(
        "production",
        &[
            (
                r#"postgresql.url="postgres://me@pg/db?sslmode=verify-full&sslrootcert=/x""#,
                "postgresql.url: has an sslrootcert, which postgresql.ca gives; take either out",
            ),
            (
                r#"postgresql.withoutPassword=true"#,
                "postgresql.withoutPassword: there is a postgresql.password",
            ),
        ],
    );
    assert_told(
        "split",
        &[
            (
                r#"postgresql.url="postgres://me@pg/db?application_name=a&sslmode=verfy-full""#,
                "postgresql.url: sslmode is one of disable",
            ),
            (
                r#"batch.postgresql.url="postgres://me@pg/db?sslmod=verify-full""#,
                "batch.postgresql.url: has an option that means nothing to it; known are sslmode, ",
            ),
        ],
    );
}

#[test]
fn authorities_are_taken_where_certificates_are_looked_at() {
    split_takes(&[
        r#"postgresql.url="postgres://me@pg/db?application_name=a&sslmode=VERIFY-CA""#,
        &format!("postgresql.ca={CA}"),
        r#"redis.url="rediss://redis""#,
        &format!("redis.ca={CA}"),
        r#"nats.servers=["tls://a","tls://b"]"#,
        &format!("nats.ca={CA}"),
    ]);
}
