use super::{errors::assert_problems, *};
use std::time::Duration;

#[test]
fn without_a_word_jobs_have_a_day_and_results_a_week() {
    let loaded = good("{}");
    let batch = &loaded.config.batch;
    assert_eq!(batch.store, BatchStoreConfig::default());
    assert_eq!(batch.default_completion_window.0, Duration::from_secs(86_400));
    assert_eq!(batch.results_kept.0, Duration::from_secs(7 * 86_400));
    assert_eq!((batch.window_wait.to_string(), batch.concurrency), ("1m".to_owned(), 4));
}

#[test]
fn what_cannot_be_meant_is_told_by_its_field() {
    for (section, told) in [
        ("poll_interval: 20m", "batch.max_poll_interval: 10m is shorter than `poll_interval`, 20m"),
        ("max_poll_interval: 2h", "batch.max_poll_interval: 2h is more than 1h"),
        (
            "window_wait: 24h",
            "batch.window_wait: 24h leaves no time within `default_completion_window` for the vendor",
        ),
        (
            "store: {sqlite: {}, postgres: {url: 'postgres://me@db/jobs'}}",
            "batch.store: give either `sqlite` or `postgres`, not both",
        ),
        (
            "store: {sqlite: {path: ':memory:'}}",
            "batch.store.sqlite.path: `:memory:` is not the path of something on the disk",
        ),
        ("lease: 11m", "batch.lease: 11m is not from 1s to 10m"),
        ("concurrency: 0", "batch.concurrency: "),
        ("results_kept: 31d", "batch.results_kept: `31d` is more than 30 days"),
    ] {
        let problems = bad(&format!("batch: {{{section}}}\n"));
        assert!(problems.contains(told) && problems.lines().count() == 1, "{problems}");
    }
}

#[test]
fn a_router_elsewhere_is_a_peer_like_the_others() {
    good("peers: {router: ['http://router:50051']}\n");
    assert_problems(
        "peers: {router: ['https://router:50051']}\n",
        &["1:18: peers.router[0]: `https://router:50051`: is reached over TLS only where there is `mtls`"],
    );
}
