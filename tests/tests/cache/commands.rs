//! `signalbox cache`, as operators type it.

use super::{answer, hit, met, of, on_with};
use serde_json::json;
use signalbox_api::v1::{GenerateRequest, cache_effect::Outcome};
use signalbox_testkit::{Topology, World, ask::Mode, both_topologies, built, eventually, own};

/// What the command says, of the process that keeps the answers.
async fn command(world: &World, arguments: &str) -> (bool, String) {
    let keeper = world.signalbox.cache.as_ref().unwrap_or(&world.signalbox.router);
    let mut command = tokio::process::Command::new(built("signalbox"));
    command.arg("cache").args(arguments.split('|')).env_clear();
    command.env("SIGNALBOX_API_KEY", keeper.operators_key());
    command.env("SIGNALBOX_SERVER", format!("http://{}", keeper.address()));
    let output = command.output().await.unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

async fn operators_see_what_is_kept_and_why_and_are_rid_of_it(topology: Topology) {
    let world = World::start(topology, on_with(json!({"cache": {"defaults": {"normalized": true}}}))).await;
    let acme = own("acme");
    let asked = GenerateRequest {
        reference: "article-7".to_owned(),
        prompt_template: "answer@1".to_owned(),
        ..of("acme", "Why do cats purr?")
    };
    answer(&world, Mode::Unary, asked.clone()).await;
    hit(&world, Mode::Unary, asked.clone()).await;
    // Another replica, where there is one, may have counted the hit, and tells of it within ten seconds.
    eventually("the hit is told of", || async {
        let (ok, told) = command(&world, &format!("stats|--tenant|{acme}")).await;
        ok && told.contains("1 answers") && told.contains("1 exact") && told.contains("saved")
    })
    .await;

    let explain = |stored: &str, asked: &str| {
        let same = format!("--locale|en-GB|--tenant|{acme}|--model|openai/gpt-6-luna");
        format!("explain|{same}|--stored|{stored}|{asked}")
    };
    let (ok, told) = command(&world, &explain("List two rivers.", "List  two rivers.")).await;
    assert!(ok && told.starts_with("shared: the same but for"), "{told}");
    let of_template =
        format!("{}|--prompt-template|answer@1", explain("List two rivers.", "List two rivers."));
    let (ok, told) = command(&world, &of_template).await;
    assert!(ok && told.contains("both `answer@1`"), "{told}");
    let (ok, told) = command(&world, &explain("List two rivers.", "List three rivers.")).await;
    assert!(ok && told.starts_with("not shared"), "{told}");
    assert!(told.lines().any(|line| line.starts_with("number") && line.contains("NOT PASSED")), "{told}");

    let (ok, told) =
        command(&world, &format!("invalidate|--tenant|{acme}|--reference|article-7|--wait|--erase")).await;
    assert!(ok && told.contains("1 answers destroyed") && told.contains("nothing was left"), "{told}");
    assert_eq!(met(&answer(&world, Mode::Unary, asked).await.route).0, Outcome::Miss);
    let (ok, told) = command(&world, &format!("invalidate|--tenant|{acme}")).await;
    assert!(!ok && told.contains("--everything"), "{told}");
}

both_topologies!(operators_see_what_is_kept_and_why_and_are_rid_of_it);
