//! Tiers by their names.

use super::show;
use signalbox_api::v1::Tier;

/// A tier by its name.
pub(super) fn tier(name: &str) -> Result<Tier, String> {
    Tier::from_str_name(&format!("TIER_{}", name.to_uppercase()))
        .filter(|tier| *tier != Tier::Unspecified)
        .ok_or_else(|| format!("there is no tier `{name}`; there are premium, standard and economy"))
}

/// A tier's name.
pub(super) fn name(tier: Tier) -> String {
    show::word(tier.as_str_name(), "TIER_")
}
