//! Budgets, as applications and operators meet them.

mod bank;
mod ends;
mod money;
mod rates;
mod thrift;
