//! Work that can wait: how items gather in windows, how windows come to their end, and where an item goes on. Pure:
//! time comes in by the argument list, and nothing here waits for anybody.
//!
//! | question | module |
//! |---|---|
//! | what may a job, an item, a window be called | [`ids`] |
//! | which items travel together | [`target`] |
//! | how far is a job, an item, a window, and what may follow | [`state`] |
//! | how much goes into a window, and when is it handed over | [`window`] |
//! | how is a window divided that its vendor refuses | [`split`] |
//! | when is a vendor asked again | [`mod@pause`] |
//! | where does an item go that was not answered | [`trail`] |
//! | is a batch gone that its vendor does not know any more | [`Missing`] |
//! | is a job late, when must it have ended | [`late`] |

pub mod ids;
pub mod late;
mod missing;
pub mod pause;
pub mod split;
pub mod state;
pub mod target;
pub mod trail;
pub mod window;

pub use ids::{BadId, ItemKey, check_id};
pub use missing::Missing;
pub use state::{JobState, Outcome, WindowState};
pub use target::{Kind, Lane, Target, WindowKey};
pub use trail::{Fault, Trail};
pub use window::{Level, Room, Rules};
