//! What docs/operations.md says is so, and what it tells operators to do works.

mod ledger;
mod page;
