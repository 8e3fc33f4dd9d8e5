//! Budgets, as applications and operators meet them.

pub(crate) mod bank;
mod ends;
mod money;
mod rates;
mod thrift;
