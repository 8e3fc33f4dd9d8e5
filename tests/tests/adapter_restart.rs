//! Adapters are killed (SIGKILL) and started again under load. No request is lost that had not begun to stream.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use signalbox_api::v1::{EmbedRequest, attempt::Cause};
use signalbox_testkit::{
    Signalbox, Topology, World,
    ask::{Answer, Mode, Streamed, ask, open, request},
};
use signalbox_vendorsim::Vendor;
use std::cell::{Cell, RefCell};
use tokio::sync::Notify;

const CLIENTS: usize = 8;
const CALLS: usize = 400;
/// So many calls end between one death and the next.
const DEATH_EVERY: usize = 60;
const DEATHS: usize = 5;

/// One vendor, so that no other can step in.
fn config() -> Value {
    json!({
        "aliases": {"one": {"targets": ["openai/gpt-6-luna"]}},
        // Longer than a busy machine takes to start a process.
        "failover": {"adapter_patience": "60s"},
    })
}

/// All prompts are of one length, so that all answers are.
fn prompt(n: usize) -> String {
    format!("This is number {n:04}.")
}

/// What became of the calls.
struct Tally {
    /// The answer to number 0.
    zero: String,
    ended: Cell<usize>,
    one_more: Notify,
    asked_again: Cell<usize>,
    lost: RefCell<Vec<String>>,
}

impl Tally {
    async fn start(world: &World) -> Self {
        let zero = ask(&mut world.client(), Mode::Unary, request("one", &prompt(0))).await.unwrap().text();
        // The vendor takes its time, so that calls are under way whenever an adapter dies.
        world.fault(Vendor::Openai, "delay=20,trickle=2");
        Self {
            zero,
            ended: Cell::new(0),
            one_more: Notify::new(),
            asked_again: Cell::new(0),
            lost: RefCell::default(),
        }
    }

    fn whole(&self, n: usize) -> String {
        self.zero.replace(&prompt(0), &prompt(n))
    }

    async fn call(&self, world: &World, n: usize) {
        let wanted = request("one", &prompt(n));
        if n.is_multiple_of(2) {
            match ask(&mut world.client(), Mode::Unary, wanted).await {
                Ok(answer) => self.answered(n, &answer),
                Err(status) => self.lost.borrow_mut().push(format!("{n}: {status:?}")),
            }
        } else {
            match open(&mut world.client(), wanted).await {
                Ok(events) => self.streamed(n, Streamed::read(events).await),
                Err(status) => self.lost.borrow_mut().push(format!("{n}: {status:?}")),
            }
        }
        self.ended.set(self.ended.get() + 1);
        self.one_more.notify_one();
    }

    fn answered(&self, n: usize, answer: &Answer) {
        assert_eq!(answer.text(), self.whole(n));
        let again = answer.route.attempts.iter().any(|attempt| attempt.error_reason == "UNAVAILABLE");
        self.asked_again.set(self.asked_again.get() + usize::from(again));
    }

    /// It may break off, but not before its first content, and nobody's words are glued to it.
    fn streamed(&self, n: usize, streamed: Streamed) {
        let text = streamed.text();
        match streamed.end {
            Ok(done) => self.answered(
                n,
                &Answer {
                    content: streamed.content,
                    route: done.route.unwrap_or_default(),
                    ..Answer::default()
                },
            ),
            Err(_) if !text.is_empty() => assert!(self.whole(n).starts_with(&text), "{n}: {text}"),
            Err(status) => self.lost.borrow_mut().push(format!("{n}: {status:?}")),
        }
    }

    async fn reaches(&self, calls: usize) {
        while self.ended.get() < calls {
            self.one_more.notified().await;
        }
    }
}

/// Calls, while adapters in turn are killed and started again.
async fn under_load(world: &World, adapters: &mut [Signalbox]) {
    let tally = Tally::start(world).await;
    let calls = stream::iter(0..CALLS).map(|n| tally.call(world, n)).buffer_unordered(CLIENTS);
    let deaths = async {
        for death in 0..DEATHS {
            tally.reaches((death + 1) * DEATH_EVERY).await;
            let adapter = &mut adapters[death % adapters.len()];
            adapter.kill().await;
            adapter.restart().await;
        }
    };
    tokio::join!(calls.for_each(async |()| ()), deaths);
    let lost = tally.lost.take();
    assert!(lost.is_empty(), "{} of {CALLS} were lost: {lost:#?}", lost.len());
    assert!(tally.asked_again.get() > 0, "every death must have struck a call under way");
    let open = world.signalbox.router.metrics().await.sum("signalbox_breaker_open", &[]);
    assert!(open.abs() < f64::EPSILON, "an adapter's death is no vendor's fault");
}

#[tokio::test]
async fn two_adapters_that_die_in_turn_lose_no_request() {
    let mut world = World::start(Topology::Remote, config()).await;
    let mut adapters = std::mem::take(&mut world.signalbox.adapters);
    under_load(&world, &mut adapters).await;
}

#[tokio::test]
async fn the_only_adapter_dies_and_requests_wait_for_it() {
    let mut world = World::start(Topology::Remote, config()).await;
    world.signalbox.adapters.pop().unwrap().kill().await;
    let mut adapters = std::mem::take(&mut world.signalbox.adapters);
    under_load(&world, &mut adapters).await;
}

#[tokio::test]
async fn a_call_that_was_under_way_at_the_vendor_is_asked_again_and_says_so() {
    let mut world = World::start(Topology::Remote, config()).await;
    world.signalbox.adapters.pop().unwrap().kill().await;
    let mut adapter = world.signalbox.adapters.remove(0);
    // The second stream has its head, but no content yet.
    let calls = [(Mode::Unary, "hang"), (Mode::Stream, "hang"), (Mode::Stream, "first-byte=600000")];
    for (mode, fault) in calls {
        world.fault(Vendor::Openai, fault);
        let before = world.calls(Vendor::Openai).len();
        let mut client = world.client();
        let asked = ask(&mut client, mode, request("one", "Hello?"));
        let death = async {
            signalbox_testkit::eventually("the vendor is at work", || async {
                world.calls(Vendor::Openai).len() > before
            })
            .await;
            world.vendors.clear_faults();
            adapter.kill().await;
            adapter.restart().await;
        };
        let (answer, ()) = tokio::join!(asked, death);
        let answer = answer.unwrap();
        assert_eq!(answer.attempts(), ["openai: UNAVAILABLE", "openai"], "{mode:?} {fault}");
        assert_eq!(answer.route.attempts[1].cause(), Cause::Retry);
        assert_eq!(world.calls(Vendor::Openai).len(), before + 2);
    }
}

#[tokio::test]
async fn vectors_wait_for_the_only_adapter_too() {
    let mut world = World::start(Topology::Remote, config()).await;
    world.signalbox.adapters.pop().unwrap().kill().await;
    let mut adapter = world.signalbox.adapters.remove(0);
    adapter.kill().await;
    let asked = EmbedRequest {
        model: "openai/text-embedding-3-small".to_owned(),
        inputs: vec!["Hello?".to_owned()],
        ..Default::default()
    };
    let mut client = world.client();
    let (answer, ()) = tokio::join!(client.embed(asked), adapter.restart());
    assert_eq!(answer.unwrap().into_inner().embeddings.len(), 1);
}
