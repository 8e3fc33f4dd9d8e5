//! Which models may serve a request, and in which order they are tried.
//!
//! Pure: the same input gives the same plan, time and chance come in by the argument list. [`plan`] filters, scores,
//! draws the first and orders the rest; its verdicts say why, for every candidate. By [`Rules::CATALOGUE_ORDER`] it
//! keeps the catalogue's own order (an alias lists its targets best first).
//!
//! ```
//! use signalbox_routing::{Candidate, Demand, Needs, Offer, Rules, Standing, plan};
//! use signalbox_types::{Capabilities, ModelFacts, ModelRef, Money};
//!
//! let (dear, cheap) = (ModelRef::new("a", "large"), ModelRef::new("b", "small"));
//! let facts = ModelFacts::default();
//! let offer = |model| Offer {
//!     model,
//!     facts: Some(&facts),
//!     configured: true,
//!     served: true,
//!     held_for: None,
//!     standing: Standing::Preferred,
//! };
//! let priced = |model, nanos| Candidate {
//!     cost: Some(Money::from_nano_eur(nanos)),
//!     ..Candidate::new(offer(model))
//! };
//! let candidates = [priced(&dear, 9_000_000), priced(&cheap, 1_000_000)];
//! let needs = Needs { capabilities: Capabilities::NONE, prompt_tokens: 100, answer_tokens: 50 };
//!
//! let plan = plan(&Demand::new(needs), &candidates, &Rules::default(), 3, || 0.25);
//! assert_eq!(plan.order, [1, 0]);
//! ```

mod access;
mod candidate;
mod chance;
mod draw;
mod exclusion;
mod latency;
mod needs;
mod number;
mod offer;
mod plan;
mod score;
mod weights;

pub use access::{Access, InvalidPattern, ModelPattern};
pub use candidate::{Breaker, Candidate, Demand, Load, Quality, Tally};
pub use chance::Chance;
pub use draw::{Drawn, InvalidSelection, Selection};
pub use exclusion::{Exclusion, Refused};
pub use latency::{Latency, Observed, Pace};
pub use needs::Needs;
pub use offer::{Offer, Standing};
pub use plan::{Plan, Rules, Verdict, plan};
pub use score::{Factors, Rating};
pub use weights::{InvalidWeights, Preset, Weights};
