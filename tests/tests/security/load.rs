//! Calls that go on while something is done to the processes.

use signalbox_api::v1::{self, FinishReason, router_service_client::RouterServiceClient};
use signalbox_testkit::{
    Keyed, Signalbox,
    ask::{Answer, Streamed, request},
};
use std::cell::{Cell, RefCell};

const MODEL: &str = "openai/gpt-6-luna";
/// Half of them ask for streams.
const CLIENTS: usize = 6;

/// What became of calls that are all the same, so that all answers are.
#[derive(Default)]
pub(super) struct Load {
    over: Cell<bool>,
    served: Cell<usize>,
    lost: RefCell<Vec<String>>,
}

impl Load {
    /// Calls these routers with a key while `meanwhile` runs; none is lost, no stream is cut.
    pub(super) async fn during(routers: &[Signalbox], key: &str, meanwhile: impl AsyncFnOnce(&Self)) {
        let load = Self::default();
        let expected = load.whole(RouterServiceClient::new(routers[0].keyed(key))).await.unwrap();
        let clients = (0..CLIENTS).map(|client| {
            let way = routers[client % routers.len()].keyed(key);
            load.call_on(way, client.is_multiple_of(2), &expected)
        });
        let meanwhile = async {
            meanwhile(&load).await;
            load.over.set(true);
        };
        tokio::join!(futures_util::future::join_all(clients), meanwhile);
        let lost = load.lost.take();
        assert!(lost.is_empty(), "{} of {} were lost: {lost:#?}", lost.len(), lost.len() + load.served());
    }

    /// Calls that were answered.
    pub(super) fn served(&self) -> usize {
        self.served.get()
    }

    async fn call_on(&self, way: Keyed, streams: bool, expected: &str) {
        while !self.over.get() {
            let client = RouterServiceClient::new(way.clone());
            let text = if streams { self.streamed(client).await } else { self.whole(client).await };
            match text {
                Ok(text) if text == expected => self.served.set(self.served.get() + 1),
                Ok(text) => self.lost.borrow_mut().push(format!("it says: {text}")),
                Err(problem) => self.lost.borrow_mut().push(problem),
            }
        }
    }

    async fn whole(&self, mut client: RouterServiceClient<Keyed>) -> Result<String, String> {
        let answer = client.generate(asked()).await.map_err(|status| format!("{status:?}"))?.into_inner();
        match answer.finish_reason() {
            FinishReason::Stop => Ok(Answer { content: answer.content, ..Answer::default() }.text()),
            other => Err(format!("it ended by {other:?}")),
        }
    }

    async fn streamed(&self, mut client: RouterServiceClient<Keyed>) -> Result<String, String> {
        let asked = v1::StreamGenerateRequest { request: Some(asked()) };
        let events = client.stream_generate(asked).await.map_err(|status| format!("{status:?}"))?;
        let streamed = Streamed::read(events.into_inner()).await;
        let text = streamed.text();
        streamed.end.map(|_| text).map_err(|status| format!("cut off: {status:?}"))
    }
}

fn asked() -> v1::GenerateRequest {
    request(MODEL, "Say hello.")
}
