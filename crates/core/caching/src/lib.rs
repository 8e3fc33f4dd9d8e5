//! Which answers may be given again, and how they are found. Pure: secrets, time and chance come in by the argument list.
//!
//! | question | module |
//! |---|---|
//! | what makes two requests the same | [`canonical`] |
//! | under which keys an answer lies, so that they say nothing of it | [`keys`], [`place`] |
//! | may this request be looked up, and its answer be kept | [`eligibility`] |
//! | what is configured for a task | [`policy`] |
//! | was one right | [`judge`] |

pub mod canonical;
pub mod eligibility;
pub mod judge;
pub mod keys;
pub mod place;
pub mod policy;

pub use canonical::{Canonical, Context, Instruction};
pub use eligibility::{Allowed, Facts, Reason, may_look_up, may_store};
pub use keys::{Keys, Secret, TenantKeys};
pub use place::{Digest, Partition, Scope};
pub use policy::{Semantic, TaskPolicy};
