//! What operators do, and what tenants may read of it.

mod budget_limits;
mod budgets;
mod forecast;
mod keys;
mod secret;
mod tenants;
mod trails;

pub(crate) use budget_limits::{override_limit as override_budget, top_up as top_up_budget};
pub(crate) use budgets::{
    create as create_budget, get as get_budget, list as list_budgets, update as update_budget,
};
pub(crate) use forecast::forecast as forecast_budget;
pub(crate) use keys::{create as create_key, is_active, list as list_keys, revoke as revoke_key};
pub(crate) use tenants::{
    create as create_tenant, get as get_tenant, list as list_tenants, update as update_tenant,
};
pub(crate) use trails::{audits as list_audits, entries as list_entries};
