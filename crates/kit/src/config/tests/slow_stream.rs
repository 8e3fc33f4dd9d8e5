use super::{errors::assert_problems, *};
use crate::config::SlowStreamConfig;

#[test]
fn a_stream_below_one_token_a_second_for_ten_seconds_is_slow_unless_told_otherwise() {
    assert_eq!(good("").config.slow_stream, SlowStreamConfig::default());
    let told = good("slow_stream: {min_tokens_per_second: 0.5, window: 30s}").config.slow_stream;
    assert_eq!((told.min_tokens_per_second, told.window), (0.5, HumanDuration::secs(30)));
    assert!(good("slow_stream: {min_tokens_per_second: 0}").config.slow_stream.min_tokens_per_second <= 0.0);
}

#[test]
fn a_floor_below_zero_and_a_window_of_nothing_are_refused() {
    assert_problems(
        "slow_stream: {min_tokens_per_second: -1, window: 0s}",
        &["1:38: slow_stream.min_tokens_per_second: ", "1:50: slow_stream.window: "],
    );
}
