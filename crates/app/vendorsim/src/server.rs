//! The simulator as a running server.

use crate::batches::{Desk, SubmittedBatch};
use crate::fault::Fault;
use crate::pipeline::{self, State};
use crate::record::{RecordedRequest, Recorder};
use crate::rules::{Match, Rule, Rules, Times};
use crate::vendor::Vendor;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// How many requests are kept for inspection.
const KEEP: usize = 256;

/// How to run a simulator.
#[must_use]
pub struct Builder {
    delay: Duration,
    batch_time: Duration,
    keep: usize,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("delay", &self.delay)
            .field("batch_time", &self.batch_time)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// Waits so long before every answer.
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// How long a batch takes; if not set, it has ended when it is first asked about.
    pub fn batch_time(self, batch_time: Duration) -> Self {
        Self { batch_time, ..self }
    }

    /// Keeps the last `requests` for inspection; 256 if not set.
    pub fn keep_requests(self, requests: usize) -> Self {
        Self { keep: requests, ..self }
    }

    /// Where the time in headers and batches comes from; the wall clock if not set.
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Box::new(clock), ..self }
    }

    /// Starts serving; port 0 picks a free one.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<Simulator> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            rules: Rules::default(),
            recorder: Arc::new(Recorder::new(self.keep)),
            desk: Desk::new(self.batch_time),
            delay: self.delay,
            clock: self.clock,
        });
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(accept(listener, Arc::clone(&state), stopped));
        Ok(Simulator { address, state, _stop: stop, task })
    }
}

/// The simulated vendors, serving. Dropping it stops them.
pub struct Simulator {
    address: SocketAddr,
    state: Arc<State>,
    _stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl std::fmt::Debug for Simulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Simulator {
    /// A simulator with the usual settings.
    pub fn builder() -> Builder {
        Builder { delay: Duration::ZERO, batch_time: Duration::ZERO, keep: KEEP, clock: Box::new(wall_clock) }
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Base URL of a vendor by name, as in `http://127.0.0.1:4010/openai`.
    #[must_use]
    pub fn base_url(&self, vendor: &str) -> String {
        let name = vendor.parse::<Vendor>().map_or(vendor, |known| known.name());
        format!("http://{}/{name}", self.address)
    }

    /// Lets a fault strike matching requests from now on; rules are tried in the order they were set.
    pub fn set_fault(&self, matching: Match, fault: Fault, times: Times) {
        self.state.rules.add(matching, fault, times);
    }

    /// Takes all faults back.
    pub fn clear_faults(&self) {
        self.state.rules.clear();
    }

    /// The rules in force, with their counts.
    #[must_use]
    pub fn faults(&self) -> Vec<Rule> {
        self.state.rules.list()
    }

    /// The last requests, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.recorder.requests()
    }

    /// How many requests there were, kept or not.
    #[must_use]
    pub fn request_count(&self) -> u64 {
        self.state.recorder.total()
    }

    /// The batches that were handed over, oldest first, as they were when last asked about.
    #[must_use]
    pub fn batches(&self) -> Vec<SubmittedBatch> {
        self.state.desk.lock().submitted()
    }

    /// How many items of batches were handed to a vendor, kept or not.
    #[must_use]
    pub fn batch_item_count(&self, vendor: Vendor) -> u64 {
        self.state.desk.lock().handed_over.get(vendor as usize).map_or(0, |(_, items)| *items)
    }

    /// How many files of a vendor there are: handed in, and made of results.
    #[must_use]
    pub fn file_count(&self, vendor: Vendor) -> usize {
        self.state.desk.lock().files_of(vendor)
    }

    /// Lets every batch go that a fault holds; how many there were.
    pub fn release_batches(&self) -> usize {
        self.state.desk.lock().release(None)
    }

    /// Lets one batch go, by its vendor's id; whether it was held.
    pub fn release_batch(&self, id: &str) -> bool {
        self.state.desk.lock().release(Some(id)) > 0
    }

    /// How long batches take that are handed over from now on.
    pub fn set_batch_time(&self, batch_time: Duration) {
        self.state.desk.lock().usual = batch_time;
    }

    /// Stops serving and closes every connection.
    pub async fn shutdown(self) {
        let Self { _stop: stop, task, .. } = self;
        drop(stop);
        // The task ends by itself; it could only fail by a panic, which has been reported by then.
        let _ = task.await;
    }
}

async fn accept(listener: TcpListener, state: Arc<State>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, Arc::clone(&state)));
                }
                // Out of file descriptors, most likely: let some connections end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, state: Arc<State>) {
    // Without it small pieces of a stream wait for each other; a failure only costs speed.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { pipeline::respond(&state, request).await }
    });
    // How a connection ends is the client's affair, or a fault's.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

#[expect(clippy::disallowed_methods, reason = "the one place; Builder::clock replaces it")]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}
