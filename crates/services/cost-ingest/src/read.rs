//! Questions, checked and answered.

pub(crate) mod filter;
mod letters;
mod overage;
mod page;
mod query;
mod requests;
mod window;

#[cfg(test)]
mod tests;

pub(crate) use letters::{discard as discard_letters, list as list_letters, replay as replay_letters};
pub(crate) use overage::overage;
pub(crate) use page::Pages;
pub(crate) use query::query;
pub(crate) use requests::{get as get_request, list as list_requests};
