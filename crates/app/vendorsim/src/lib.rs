//! The LLM vendors' HTTP APIs as one deterministic server: for tests, for demonstrations, and for `make run`
//! without keys.
//!
//! Each vendor lives below its own prefix, since their paths collide: `/openai`, `/anthropic`, `/gemini`, `/xai`,
//! `/ollama`, and `/compatible` for any server that speaks OpenAI's chat completions. Any key is accepted except
//! an empty one and `bad-key`.
//!
//! ```
//! use signalbox_vendorsim::{Fault, Match, Simulator, Times, Vendor};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let simulator = Simulator::builder().bind("127.0.0.1:0").await?;
//! let base = simulator.base_url("openai"); // + "/v1/chat/completions"
//! simulator.set_fault(Match::vendor(Vendor::Openai), Fault::parse("status=429,retry-after=2")?, Times::First(1));
//! # assert!(base.ends_with("/openai"));
//! # simulator.shutdown().await; Ok(()) }
//! ```
//!
//! # What it answers
//! The same request always gets the same answer, ids included. The text says that it is simulated, repeats the
//! user's words and tells how many images came and how large they are; a larger cap on output gets a longer text.
//! Caps, stop sequences, JSON and JSON Schema are honoured. Each mention of a tool's name in the last user turn
//! makes a call of it, as does a tool choice that demands one; arguments fit the tool's schema. After tool results
//! the model speaks. Reasoning is done where it is asked for.
//!
//! A token is at most four bytes and ends between characters: ASCII text has a quarter of its bytes, rounded up.
//! A prompt has the tokens of its texts, calls and results, of its tools written as JSON, and 85 per image. Prompts
//! of 1,024 tokens and more are reported as half read from the cache and a quarter written to it, in steps of 128
//! (Anthropic: only where the request has a `cache_control`). Effort `minimal`, `low`, `medium`, `high`, `xhigh`,
//! `max` takes 4, 8, 16, 32, 48, 64 tokens of reasoning.
//!
//! # Faults
//! A fault is a list of parts, as in `cut=5,delay=20`:
//!
//! | part | what happens |
//! |---|---|
//! | `down` | the connection is closed without an answer |
//! | `hang` | no answer, ever |
//! | `delay=MS` | the head comes so much later |
//! | `first-byte=MS` | the body starts so much later than the head |
//! | `trickle=MS` | a pause before each token of a stream |
//! | `status=N` | an error of that status, in the vendor's words, with its headers |
//! | `kind=K` | the error by kind: `invalid` `context` `policy` `auth` `billing` `permission` `model` `too-large` `rate` `slow-down` `quota` `internal` `html` `overloaded` `timeout`; its status is the vendor's unless given |
//! | `retry-after=S` | when to try again, in the vendor's way; 1 s for `rate` unless given |
//! | `no-retry-after` | no word about it |
//! | `cut=K` | after `K` tokens the connection closes in the middle of a line; a unary answer stops half way |
//! | `error=K` | after `K` tokens the vendor's error within the stream; no effect on unary answers |
//! | `stall=K` | after `K` tokens nothing more comes, and the connection stays open |
//! | `malformed` | the first token (or the whole answer) is broken JSON |
//! | `echo` | errors repeat the credentials that were sent |
//! | `no-usage` | no token counts |
//! | `no-finish`, `empty-finish` | no finish reason, or an empty one |
//! | `dup-index` | all tool calls have index 0 (all but Anthropic and Gemini, which have no such index) |
//! | `no-ids` | tool calls have no ids |
//! | `lost` | the request is carried out, and the connection is closed without an answer |
//! | `hold=K` | the batch that is handed over stays in progress, with `K` items done (none for `hold`), until it is let go or cancelled; at a cancellation: it stays being cancelled |
//! | `refuse` | the batch that is handed over fails validation |
//! | `expire=K` | the batch that is handed over expires with `K` items done |
//! | `batch-time=MS` | the batch that is handed over takes so long |
//! | `quota=P` | the headers say that `P` percent of the quota are left (OpenAI, Anthropic and xAI, which have such) |
//!
//! Tokens of reasoning do not count towards `K`.
//!
//! It is asked for by the header `x-vendorsim-fault`, by a suffix of the model's name (`gpt-4o~cut=5`), or by a
//! rule: [`Simulator::set_fault`], or from another process `POST /_sim/faults` with
//! `{"vendor": "openai", "model": "gpt-4o", "fault": "cut=5", "count": 2}` (`share` in place of `count` strikes that
//! share of the requests; vendor and model may be left out). The header goes before the suffix, the suffix before
//! the rules, and the first rule that strikes counts. `GET /_sim/faults` lists the rules, `DELETE` takes them back.
//! `GET /_sim/requests` shows the last requests with counts per vendor and how each ended (`pending`, `answered`,
//! `client_gone`); `DELETE` forgets them.
//!
//! # Batches
//! OpenAI, Anthropic, Gemini and xAI take batches, and files where they come in files, at the vendors' own endpoints.
//! Each item is answered as if it had come alone: faults strike it by its model's suffix or by a rule, and become its
//! error (`down`, `cut`, `stall` and `malformed` become an internal error, `hang` lets it expire). A batch has ended
//! when it is first asked about, or after [`Builder::batch_time`].
//!
//! A rule can be for one [`Place`] ([`Match::at`], `"place"`): `call`, `upload`, `create`, `read`, `cancel` or `item`. A
//! rule for a model never strikes the calls around a batch, only its items. What holds, refuses or expires a batch goes
//! to `create`:
//!
//! ```
//! # use signalbox_vendorsim::{Fault, Match, Place, Simulator, Times, Vendor};
//! # fn script(simulator: &Simulator) -> Result<(), Box<dyn std::error::Error>> {
//! let create = Match::vendor(Vendor::Openai).at(Place::Create);
//! simulator.set_fault(create, Fault::parse("hold=1")?, Times::First(1)); // one item done, the others wait
//! // hand the batch over, look at it, then let it go:
//! simulator.release_batches();
//! # Ok(()) }
//! ```
//!
//! An item that says `refuse-batch` somewhere makes its vendor refuse the whole batch, and say which item that is: OpenAI and
//! xAI once they look it through, Anthropic and Gemini at once.
//!
//! [`Simulator::batches`] tells what was handed over and what came of it. From another process: `GET /_sim/batches`,
//! with how many files there are, `POST /_sim/batches/release` with `{"id": …}` or without a body for all, `DELETE /_sim/batches` to forget them.

mod answer;
mod batches;
mod body;
mod call;
mod control;
mod fault;
mod json;
mod pipeline;
mod problem;
mod record;
mod reply;
mod rules;
mod schema;
mod seed;
mod server;
mod spoil;
mod tokens;
mod vectors;
mod vendor;
mod vendors;

pub use batches::{BatchState, ItemOutcome, SubmittedBatch, SubmittedItem};
pub use fault::{Fault, UnknownFault};
pub use record::{Outcome, RecordedRequest};
pub use rules::{Match, Place, Rule, Times};
pub use server::{Builder, Simulator};
pub use vendor::{UnknownVendor, Vendor};
