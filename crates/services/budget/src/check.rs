//! What operators give, checked: every field at fault is named at once.

mod budget;
mod key;
mod tenant;
mod texts;

pub(crate) use budget::{budget as check_budget, thresholds as check_thresholds};
pub(crate) use key::key as check_key;
pub(crate) use tenant::tenant as check_tenant;
pub(crate) use texts::{
    amount as check_amount, plain_id as check_id, reason as check_reason, required as check_required,
    text as check_text,
};
