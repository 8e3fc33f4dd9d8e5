//! Who may spend how much, and what that comes to. Pure: time comes in by the argument list, money is an integer of
//! nano-EUR, and nothing here waits for anybody.
//!
//! Each module is one idea:
//!
//! | question | module |
//! |---|---|
//! | which day or month is it for a tenant | [`period`] |
//! | what does a budget do on the way to its limit | [`threshold`] |
//! | how much does a replica take at a time | [`mod@slice`] |
//! | what may a replica spend without asking | [`wallet`] |
//! | what may a replica start of a rate limit without asking | [`rates`] |
//! | how is a rate limit shared out in slices | [`rate_limit`] |
//! | when is the money gone | [`forecast`] |
//! | what is the ledger asked, and what does it answer | [`ledger`] |
//! | what must it be, whatever happens | [`model`] |
//!
//! The promises, as they are proved where the names stand:
//!
//! - **T1**, nobody overspends: settled + held ≤ limit, as long as no request costs more than was set aside for it
//!   ([`slice::granted`], [`wallet`], [`model`]).
//! - **T2**, a request that costs more puts the budget into debt by just that, and admission stops ([`wallet`]).
//! - **T3**, a replica that stood still spends at most what it held ([`wallet::Grant`]).
//! - **T4**, what nobody can spend near the limit is small ([`mod@slice`]).
//! - **T5**, asking is rare: about a request's mean cost / slice of the requests ([`mod@slice`]).

pub mod forecast;
pub mod ledger;
pub mod model;
pub mod period;
pub mod rate_limit;
pub mod rates;
pub mod slice;
pub mod threshold;
pub mod wallet;
