//! Calls that go on while pods come and go.

use signalbox_api::v1::{
    FinishReason, GenerateRequest, StreamGenerateRequest, router_service_client::RouterServiceClient,
};
use signalbox_testkit::{
    Keyed,
    ask::{Streamed, request},
};
use std::{
    cell::{Cell, RefCell},
    time::Duration,
};
use tokio::time::sleep;
use tonic::Status;

const MODEL: &str = "openai/gpt-6-luna";
/// Between a client's calls: what is looked for is a failed call, and not a busy machine.
const PAUSE: Duration = Duration::from_millis(50);

/// What became of calls.
#[derive(Debug, Default)]
pub(super) struct Load {
    over: Cell<bool>,
    begun: Cell<usize>,
    failed: RefCell<Vec<String>>,
}

impl Load {
    /// Calls on two connections, whole and as streams, while `meanwhile` runs, which ends with no call failed.
    pub(super) async fn during<T>(&self, ways: [Keyed; 2], meanwhile: impl Future<Output = T>) -> T {
        let [whole, streamed] = ways.map(RouterServiceClient::new);
        self.over.set(false);
        let ended = async {
            let ended = meanwhile.await;
            self.over.set(true);
            ended
        };
        let (ended, (), ()) = tokio::join!(ended, self.ask_whole(whole), self.ask_streams(streamed));
        let failed = self.failed.borrow();
        assert!(failed.is_empty(), "{} of {} calls failed: {failed:#?}", failed.len(), self.begun());
        ended
    }

    /// How many there were in all.
    pub(super) fn begun(&self) -> usize {
        self.begun.get()
    }

    /// Asks once in each way.
    pub(super) async fn once(&self, way: Keyed) {
        let mut client = RouterServiceClient::new(way);
        self.whole(&mut client).await.unwrap();
        self.streamed(&mut client).await.unwrap();
    }

    async fn ask_whole(&self, mut client: RouterServiceClient<Keyed>) {
        while !self.over.get() {
            let ended = self.whole(&mut client).await;
            self.note(ended).await;
        }
    }

    async fn ask_streams(&self, mut client: RouterServiceClient<Keyed>) {
        while !self.over.get() {
            let ended = self.streamed(&mut client).await;
            self.note(ended).await;
        }
    }

    async fn note(&self, ended: Result<FinishReason, Status>) {
        match ended {
            Ok(FinishReason::Stop) => {}
            Ok(other) => self.failed.borrow_mut().push(format!("it ended by {other:?}")),
            Err(status) => self.failed.borrow_mut().push(format!("{status:?}")),
        }
        sleep(PAUSE).await;
    }

    async fn whole(&self, client: &mut RouterServiceClient<Keyed>) -> Result<FinishReason, Status> {
        let answer = client.generate(self.another()).await?;
        Ok(answer.get_ref().finish_reason())
    }

    async fn streamed(&self, client: &mut RouterServiceClient<Keyed>) -> Result<FinishReason, Status> {
        let asked = StreamGenerateRequest { request: Some(self.another()) };
        let events = client.stream_generate(asked).await?.into_inner();
        Streamed::read(events).await.end.map(|done| done.finish_reason())
    }

    /// A request that nobody has made before, so that no answer is there.
    fn another(&self) -> GenerateRequest {
        self.begun.set(self.begun() + 1);
        request(MODEL, &format!("Say {}.", self.begun()))
    }
}
