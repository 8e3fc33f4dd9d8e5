//! What cannot be shown in a system that is up, and why. All of it is shown in processes of a test's own.

/// Names of tests, each with the reason.
pub(super) const LEFT_OUT: [(&str, &str); 2] = [
    (
        "cache::meaning::up::what_the_encoder_is_asked_is_paid_once_for_each_text",
        "each of its two caches asks the encoder for itself",
    ),
    ("drills::up::nothing_is_drilled_unless_the_configuration_says_so", "its own configuration says so"),
];
