//! What cannot be shown in a system that is up, and why. All of it is shown in processes of a test's own.

/// Names of tests, each with the reason.
pub(super) const LEFT_OUT: [(&str, &str); 6] = [
    ("accounting::up::heartbeats_are_accounted_for_where_they_are_made", HEARTBEATS),
    ("batch::budget::up::a_job_is_reserved_whole_or_refused_whole", JOBS),
    ("batch::budget::up::a_job_that_the_budget_cannot_pay_is_not_kept", JOBS),
    ("budgets::ends::up::heartbeats_are_paid_from_the_budget_of_signalbox_itself", HEARTBEATS),
    (
        "cache::meaning::up::what_the_encoder_is_asked_is_paid_once_for_each_text",
        "each of its two caches asks the encoder for itself",
    ),
    ("drills::up::nothing_is_drilled_unless_the_configuration_says_so", "its own configuration says so"),
];

const HEARTBEATS: &str =
    "it would leave the system's own tenant without money, or needs that tenant to have some";
const JOBS: &str =
    "it counts what vendors are handed, and jobs that tests before it have left are handed over, too";
