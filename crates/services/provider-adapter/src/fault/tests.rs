use super::*;
use futures_util::{Stream, StreamExt as _, stream};
use signalbox_ports::AnswerStream;
use signalbox_types::{Completion, ModelFacts, StreamEvent, TokenUsage};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

const SECOND: Duration = Duration::from_secs(1);

/// A vendor that takes this long for an answer of three texts.
#[derive(Debug, Clone, Copy)]
struct Well(Duration);

struct Events(Pin<Box<dyn Stream<Item = Result<StreamEvent, Failure>> + Send>>);

impl Stream for Events {
    type Item = Result<StreamEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl AnswerStream for Events {
    fn vendor_usage(&self) -> Option<TokenUsage> {
        None
    }
}

fn reply<T>(value: T) -> VendorReply<T> {
    VendorReply { value, adjustments: Vec::new(), request_id: String::new(), quota_left: None }
}

#[async_trait]
impl VendorApi for Well {
    async fn generate(&self, _: VendorTarget<'_>, _: &Prompt) -> Result<VendorReply<ModelAnswer>, Failure> {
        sleep(self.0).await;
        Ok(reply(ModelAnswer::default()))
    }

    async fn stream(&self, _: VendorTarget<'_>, _: &Prompt) -> Result<VendorReply<BoxAnswerStream>, Failure> {
        let text = |text: &str| Ok(StreamEvent::Text(text.to_owned()));
        let events = [text("a"), text("b"), text("c"), Ok(StreamEvent::Done(Completion::default()))];
        let late = sleep(self.0);
        let events = stream::once(late).flat_map(move |()| stream::iter(events.clone()));
        Ok(reply(Box::pin(Events(Box::pin(events))) as BoxAnswerStream))
    }

    async fn embed(
        &self,
        _: VendorTarget<'_>,
        _: &EmbedRequest,
    ) -> Result<VendorReply<EmbeddingAnswer>, Failure> {
        Ok(reply(EmbeddingAnswer::default()))
    }

    async fn count_tokens(&self, _: VendorTarget<'_>, _: &Prompt) -> Result<Option<u64>, Failure> {
        Ok(None)
    }

    fn failure_of(&self, status: u16) -> Failure {
        Failure::new(ErrorReason::VendorError, format!("status {status}"))
    }

    fn simulated(&self) -> bool {
        true
    }
}

/// A vendor with a fault, which waits 5 s for a first byte and 2 s for the next.
fn faulty(vendor: Well, fault: DrillFault) -> FaultyVendor {
    FaultyVendor {
        name: "acme".into(),
        vendor: Arc::new(vendor),
        injected: Injected { fault, reached: Arc::default() },
        timeouts: Timeouts { connect: SECOND, first_byte: 5 * SECOND, idle: 2 * SECOND, total: 60 * SECOND },
    }
}

async fn whole(vendor: &FaultyVendor, timeout: Option<Duration>) -> Result<(), ErrorReason> {
    let facts = ModelFacts::default();
    let target = VendorTarget { model: "m", facts: &facts, timeout };
    let answer = vendor.generate(target, &Prompt::default()).await;
    answer.map(|_| ()).map_err(|failure| failure.reason)
}

/// How many events came, and how the stream ended.
async fn streamed(vendor: &FaultyVendor) -> (usize, Result<(), ErrorReason>) {
    let facts = ModelFacts::default();
    let target = VendorTarget { model: "m", facts: &facts, timeout: None };
    let mut events = match vendor.stream(target, &Prompt::default()).await {
        Ok(reply) => reply.value,
        Err(failure) => return (0, Err(failure.reason)),
    };
    let mut count = 0;
    while let Some(event) = events.next().await {
        match event {
            Ok(_) => count += 1,
            Err(failure) => {
                assert!(events.next().await.is_none(), "nothing follows a failure");
                return (count, Err(failure.reason));
            }
        }
    }
    (count, Ok(()))
}

#[tokio::test(start_paused = true)]
async fn a_status_comes_in_the_vendors_place_and_the_vendor_is_not_called() {
    let vendor = faulty(Well(SECOND), DrillFault::Status(500));
    let began = Instant::now();
    assert_eq!(whole(&vendor, None).await, Err(ErrorReason::VendorError));
    assert_eq!(streamed(&vendor).await, (0, Err(ErrorReason::VendorError)));
    assert!(began.elapsed().is_zero() && !vendor.injected.reached());
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_the_first_byte_timeout_allows_only_makes_the_answer_late() {
    let vendor = faulty(Well(SECOND), DrillFault::Delay(3 * SECOND));
    let began = Instant::now();
    assert_eq!(whole(&vendor, None).await, Ok(()));
    assert_eq!(began.elapsed(), 4 * SECOND);
    assert_eq!(streamed(&vendor).await, (4, Ok(())));
    assert_eq!(began.elapsed(), 8 * SECOND);
    assert!(vendor.injected.reached());
}

#[tokio::test(start_paused = true)]
async fn a_longer_delay_ends_at_the_first_byte_timeout_and_the_vendor_is_not_called() {
    let vendor = faulty(Well(SECOND), DrillFault::Delay(10 * SECOND));
    let began = Instant::now();
    assert_eq!(whole(&vendor, None).await, Err(ErrorReason::VendorTimeout));
    assert_eq!(began.elapsed(), 5 * SECOND);
    assert_eq!(streamed(&vendor).await, (0, Err(ErrorReason::VendorTimeout)));
    assert_eq!(began.elapsed(), 10 * SECOND);
    assert_eq!(whole(&vendor, Some(2 * SECOND)).await, Err(ErrorReason::VendorTimeout));
    assert_eq!(began.elapsed(), 12 * SECOND, "the caller's own time may be shorter");
    assert!(!vendor.injected.reached());
}

#[tokio::test(start_paused = true)]
async fn a_delay_and_the_vendors_own_time_are_held_to_one_first_byte_timeout() {
    let vendor = faulty(Well(3 * SECOND), DrillFault::Delay(3 * SECOND));
    let began = Instant::now();
    assert_eq!(whole(&vendor, None).await, Err(ErrorReason::VendorTimeout));
    assert_eq!(streamed(&vendor).await, (0, Err(ErrorReason::VendorTimeout)));
    assert_eq!(began.elapsed(), 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_cut_lets_so_many_contents_through() {
    for (after, came) in [(0, 0), (2, 2)] {
        let vendor = faulty(Well(SECOND), DrillFault::CutAfter(after));
        assert_eq!(streamed(&vendor).await, (came, Err(ErrorReason::StreamTruncated)));
        assert_eq!(whole(&vendor, None).await, Err(ErrorReason::VendorBadResponse));
        assert!(vendor.injected.reached());
    }
    let late = faulty(Well(SECOND), DrillFault::CutAfter(9));
    assert_eq!(streamed(&late).await, (4, Ok(())), "an answer that ends before the cut is whole");
}

#[tokio::test(start_paused = true)]
async fn a_trickle_pauses_before_each_event() {
    let vendor = faulty(Well(Duration::ZERO), DrillFault::Trickle(SECOND));
    let began = Instant::now();
    assert_eq!(streamed(&vendor).await, (4, Ok(())));
    assert_eq!(began.elapsed(), 4 * SECOND);
    assert_eq!(whole(&vendor, None).await, Ok(()));
    assert_eq!(began.elapsed(), 5 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_trickle_slower_than_the_idle_timeout_ends_with_it() {
    let vendor = faulty(Well(Duration::ZERO), DrillFault::Trickle(3 * SECOND));
    let began = Instant::now();
    assert_eq!(streamed(&vendor).await, (1, Err(ErrorReason::VendorTimeout)));
    assert_eq!(began.elapsed(), 5 * SECOND, "3 s to the first event, then 2 s in vain");
}
