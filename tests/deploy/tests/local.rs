//! The whole system on one machine, as `make up` starts it: with the very program, on free ports, in a temporary
//! folder. It is started once and told as one story, since starting it is most of the cost.

mod disturbed;
mod first_steps;
mod job;
mod struck;
mod system;

use job::Job;
use signalbox_testkit::eventually;
use system::System;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_system_comes_up_serves_through_all_that_may_happen_and_leaves_nothing() {
    let system = System::up().await;
    first_steps::up_again_says_that_it_is_up(&system).await;
    first_steps::ports_that_are_taken_are_told_by_name_before_anything_starts(&system).await;
    first_steps::the_commands_that_it_prints_work_when_pasted(&system).await;
    first_steps::all_that_may_become_of_a_request_has_its_row(&system).await;
    Job::hand_in(&system, "archive").await.is_answered(&system).await;
    first_steps::only_who_may_call_an_adapter_can(&system).await;
    struck::what_was_just_killed_is_not_said_to_be_up(&system).await;
    struck::a_database_that_was_killed_and_that_nobody_asked_for_comes_back(&system).await;
    struck::what_stands_still_is_not_said_to_be_up(&system).await;
    disturbed::every_role_is_restarted_and_nobody_notices(&system).await;
    disturbed::certificates_are_replaced_and_nobody_notices(&system).await;
    disturbed::one_process_of_each_role_is_killed_and_every_request_has_its_row(&system).await;
    disturbed::a_drill_passes(&system).await;
    disturbed::a_process_that_does_not_start_is_told_with_the_end_of_its_log(&system).await;
    system.down().await;
}

#[tokio::test]
async fn a_folder_that_is_somebody_elses_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "years of work").unwrap();
    let up = system::local(folder.path(), &["up", "--base-port", "0"]).await;
    assert!(!up.good && up.errors.contains("is not empty and not ours"), "{up:?}");
    let down = system::local(folder.path(), &["down"]).await;
    assert!(down.good && down.says.contains("nothing was up"), "{down:?}");
    eventually("it is still there", || async { folder.path().join("thesis.txt").is_file() }).await;
}

#[tokio::test]
async fn an_up_that_was_interrupted_at_once_leaves_nothing_that_cannot_be_removed() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("local");
    std::fs::create_dir(&folder).unwrap();
    for file in ["lock", "stack.new"] {
        std::fs::write(folder.join(file), "").unwrap();
    }
    let down = system::local(&folder, &["down"]).await;
    assert!(down.good && down.says.contains("nothing is left") && !folder.exists(), "{down:?}");
}

#[tokio::test]
async fn a_damaged_state_is_told_with_what_to_do_and_removed_with_all_keys() {
    for damaged in ["", "{\"ports\": "] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("local");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("stack.json"), damaged).unwrap();
        std::fs::write(folder.join("env"), "export SIGNALBOX_ADMIN_KEY=secret").unwrap();
        for command in [&["up", "--base-port", "0"][..], &["status"], &["roll", "all"]] {
            let told = system::local(&folder, command).await;
            assert!(!told.good && told.errors.contains("stack.json is damaged"), "{told:?}");
            assert!(told.errors.contains("`make down`"), "{told:?}");
        }
        let down = system::local(&folder, &["down"]).await;
        assert!(down.good && down.says.contains("nothing is left") && !folder.exists(), "{down:?}");
    }
}
