//! Which answers may be given again, and how they are found. Pure: secrets, time and chance come in by the argument list.
//!
//! | question | module |
//! |---|---|
//! | what makes two requests the same | [`canonical`] |
//! | under which keys an answer lies, so that they say nothing of it | [`keys`], [`place`] |
//! | may this request be looked up, and its answer be kept | [`eligibility`] |
//! | what is configured for a task | [`policy`] |
//! | may the answer to a near request be served | [`evidence`] |
//! | was one right | [`judge`] |
//! | how near are two texts, with no model at hand | [`ngrams`], [`vectors`] |
//! | when to look again for the answer to an identical request | [`flight`] |

pub mod canonical;
#[cfg(test)]
mod chance;
pub mod eligibility;
pub mod evidence;
pub mod flight;
pub mod judge;
pub mod keys;
pub mod ngrams;
pub mod place;
pub mod policy;
pub mod vectors;

pub use canonical::{Canonical, Context, Instruction};
pub use eligibility::{Allowed, Facts, Reason, may_look_up, may_store};
pub use evidence::{Candidate, Decision, Pool, Record, Refusal, decide};
pub use judge::{Judge, Verdict};
pub use keys::{Keys, Secret, TenantKeys};
pub use place::{Digest, Partition, Scope};
pub use policy::{Overrides, Semantic, TaskPolicy};
